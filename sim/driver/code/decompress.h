/* The ways in which nvcc compresses PTX (LZ4, zstd) and clang an offload bundle (zlib, zstd), undone by the
 * system's libraries, which are opened when first needed. */
#ifndef NEUTRINO_SIM_DECOMPRESS_H
#define NEUTRINO_SIM_DECOMPRESS_H

#include <stddef.h>

enum sim_codec { SIM_CODEC_LZ4, SIM_CODEC_ZSTD, SIM_CODEC_ZLIB };

enum sim_decompressed {
    SIM_DECOMPRESSED,
    SIM_DECOMPRESS_CORRUPT,   /* no such data, or not of the size that was promised */
    SIM_DECOMPRESS_NO_LIBRARY /* see sim_codec_package */
};

/* An LZ4 block, a zstd frame or a zlib stream that must give exactly `to_bytes`; nothing is written beyond
 * them. */
enum sim_decompressed sim_decompress(enum sim_codec codec, const void *from, size_t from_bytes, void *to,
                                     size_t to_bytes);

/* "libzstd.so.1 (Debian and Ubuntu: apt install libzstd1; ...)" */
const char *sim_codec_package(enum sim_codec codec);

#endif
