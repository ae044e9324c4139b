/* SHA-256 (FIPS 180-4) of bytes in memory. Makes no system call, so that it can run under seccomp. */
#ifndef NEUTRINO_SHA256_H
#define NEUTRINO_SHA256_H

#include <stddef.h>
#include <stdint.h>

void nb_sha256(const void *data, size_t bytes, uint8_t digest[32]) __attribute__((visibility("hidden")));

/* Mixes `count` blocks of 64 bytes into the state. */
typedef void nb_sha256_blocks(uint32_t state[8], const uint8_t *blocks, size_t count);
extern const uint32_t nb_sha256_constants[64] __attribute__((visibility("hidden")));
nb_sha256_blocks nb_sha256_portable __attribute__((visibility("hidden")));

/* The same with the processor's instructions; NULL if it has none. */
nb_sha256_blocks *nb_sha256_accelerated(void) __attribute__((visibility("hidden")));

#endif
