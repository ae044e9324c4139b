/* Decompression of code images: LZ4 and zstd for nvcc, zstd and zlib for hipcc. */
#ifndef NEUTRINO_UNPACK_H
#define NEUTRINO_UNPACK_H

#include <stddef.h>

#include "core/image/view.h"

/* Unpack an LZ4 block, a zstd frame or a zlib stream to exactly `to_bytes` bytes. Touches no byte outside
 * either buffer. Returns NULL, or a constant text that says why it failed. */
const char *nb_unpack_lz4(const void *from, size_t from_bytes, void *to, size_t to_bytes)
    __attribute__((visibility("hidden")));
const char *nb_unpack_zstd(const void *from, size_t from_bytes, void *to, size_t to_bytes)
    __attribute__((visibility("hidden")));
const char *nb_unpack_zlib(const void *from, size_t from_bytes, void *to, size_t to_bytes)
    __attribute__((visibility("hidden")));

/* Length of the zstd frame at the start of `packed`, computed from its block headers (RFC 8878). 0 if the
 * bytes are not a complete frame. */
uint64_t nb_zstd_frame_bytes(struct nb_view packed) __attribute__((visibility("hidden")));

#endif
