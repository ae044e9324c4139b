/* Offload bundles as `hipcc --offload-compress` makes them (LLVM's Object/OffloadBundle.cpp, pull requests
 * 88827 and 130284): "CCOB", then
 *
 *     version 1:  u16 version, u16 method,                            u32 raw bytes,  u64 hash
 *     version 2:  u16 version, u16 method,  u32 bytes of everything,  u32 raw bytes,  u64 hash
 *     version 3:  u16 version, u16 method,  u64 bytes of everything,  u64 raw bytes,  u64 hash
 *
 * and the bundle as zlib (method 0) or zstd (1) packs it. clang 19 writes version 2, clang 22 version 3. */
#ifndef NEUTRINO_COMPRESSED_BUNDLE_H
#define NEUTRINO_COMPRESSED_BUNDLE_H

#include "core/image/view.h"

#define NB_COMPRESSED_BUNDLE_MAGIC 0x424f4343u

bool nb_is_compressed_bundle(struct nb_view image) __attribute__((visibility("hidden")));

/* Size in bytes, or 0 if unknown. Version 1 does not store it: a zstd frame marks its own end, but a zlib
 * stream would have to be unpacked. */
uint64_t nb_compressed_bundle_bytes(struct nb_view image) __attribute__((visibility("hidden")));

/* Unpack the bundle. Returns NULL, or a constant text that says why unpacking failed. After NULL the
 * caller frees `memory`, and `bundle` points into it. */
const char *nb_compressed_bundle_open(struct nb_view image, void **memory, struct nb_view *bundle)
    __attribute__((visibility("hidden")));

#endif
