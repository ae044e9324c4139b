/* The two ways in which nvcc compresses the entries of a fat binary, undone. Only where code is recorded. */
#ifndef NEUTRINO_UNPACK_H
#define NEUTRINO_UNPACK_H

#include <stddef.h>

/* An LZ4 block or a zstd frame that must give exactly `to_bytes`: no byte outside either buffer is touched.
 * NULL, or a constant text that says why it could not be. */
const char *nb_unpack_lz4(const void *from, size_t from_bytes, void *to, size_t to_bytes)
    __attribute__((visibility("hidden")));
const char *nb_unpack_zstd(const void *from, size_t from_bytes, void *to, size_t to_bytes)
    __attribute__((visibility("hidden")));

#endif
