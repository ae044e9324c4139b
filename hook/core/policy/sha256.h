/* SHA-256 (FIPS 180-4), for policies that list images by hash. */
#ifndef NEUTRINO_SHA256_H
#define NEUTRINO_SHA256_H

#include <stddef.h>
#include <stdint.h>

void nb_sha256(const void *data, size_t bytes, uint8_t hash[32]) __attribute__((visibility("hidden")));

#endif
