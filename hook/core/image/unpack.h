/* The ways in which compilers pack code, undone: LZ4 and zstd nvcc's, zstd and zlib hipcc's. */
#ifndef NEUTRINO_UNPACK_H
#define NEUTRINO_UNPACK_H

#include <stddef.h>

#include "core/image/view.h"

/* An LZ4 block, a zstd frame or a zlib stream that must give exactly `to_bytes`: no byte outside either
 * buffer is touched. NULL, or a constant text that says why it could not be. */
const char *nb_unpack_lz4(const void *from, size_t from_bytes, void *to, size_t to_bytes)
    __attribute__((visibility("hidden")));
const char *nb_unpack_zstd(const void *from, size_t from_bytes, void *to, size_t to_bytes)
    __attribute__((visibility("hidden")));
const char *nb_unpack_zlib(const void *from, size_t from_bytes, void *to, size_t to_bytes)
    __attribute__((visibility("hidden")));

/* How long the zstd frame at the start of `packed` is, told from the heads of its blocks (RFC 8878); 0 if it
 * is none, or has no end in it. */
uint64_t nb_zstd_frame_bytes(struct nb_view packed) __attribute__((visibility("hidden")));

#endif
