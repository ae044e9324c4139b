/* Decompression of PTX as nvcc compresses it (LZ4, zstd) and of clang's offload bundles (zlib, zstd). Uses
 * the system's libraries, and opens each at first use. */
#ifndef NEUTRINO_SIM_DECOMPRESS_H
#define NEUTRINO_SIM_DECOMPRESS_H

#include <stddef.h>

enum sim_codec { SIM_CODEC_LZ4, SIM_CODEC_ZSTD, SIM_CODEC_ZLIB };

enum sim_decompressed {
    SIM_DECOMPRESSED,
    SIM_DECOMPRESS_CORRUPT,   /* invalid data, or not of the declared size */
    SIM_DECOMPRESS_NO_LIBRARY /* sim_codec_package names the missing library */
};

/* Decompress an LZ4 block, a zstd frame or a zlib stream that must yield exactly `to_bytes`. Writes no byte
 * beyond them. */
enum sim_decompressed sim_decompress(enum sim_codec codec, const void *from, size_t from_bytes, void *to,
                                     size_t to_bytes);

/* The library and how to install it: "libzstd.so.1 (Debian and Ubuntu: apt install libzstd1; ...)" */
const char *sim_codec_package(enum sim_codec codec);

#endif
