#include "driver/code/decompress.h"
#include "hip/code.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC       "__CLANG_OFFLOAD_BUNDLE__"
#define MAGIC_BYTES (sizeof MAGIC - 1)

#define COMPRESSED_MAGIC       "CCOB"
#define COMPRESSED_MAGIC_BYTES (sizeof COMPRESSED_MAGIC - 1)

#define METHOD_ZLIB 0u /* llvm::compression::Format */
#define METHOD_ZSTD 1u

/* Sanity limit, far above the code of one program for all GPUs (some hundred MiB). */
#define BUNDLE_MAX (UINT64_C(2) << 30)

struct entry {
    uint64_t offset, bytes;
    uint64_t target_bytes; /* of the name that follows, without a NUL */
};

static bool begins_with(struct hip_span image, const char *magic, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) /* compared byte by byte: the image may be a shorter text */
        if (i >= image.bytes || image.at[i] != (unsigned char)magic[i])
            return false;
    return true;
}

bool hip_is_bundle(struct hip_span image)
{
    return begins_with(image, MAGIC, MAGIC_BYTES);
}

bool hip_is_compressed_bundle(struct hip_span image)
{
    return begins_with(image, COMPRESSED_MAGIC, COMPRESSED_MAGIC_BYTES);
}

/* Parses "hipv4-amdgcn-amd-amdhsa--sim" or "hip-amdgcn-amd-amdhsa-unknown-sim:xnack-": a kind, a triple of
 * four parts and a processor. Processor features are ignored. */
static bool is_ours(const unsigned char *target, size_t bytes)
{
    static const char *const kinds[] = {"hipv4-", "hip-"};
    static const char triple[] = "amdgcn-amd-amdhsa-";
    static const char processor[] = "-sim";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t kind_bytes = strlen(kinds[i]);
        const size_t before = kind_bytes + sizeof triple - 1;
        if (bytes < before || memcmp(target, kinds[i], kind_bytes) != 0 ||
            memcmp(target + kind_bytes, triple, sizeof triple - 1) != 0)
            continue;
        const unsigned char *dash = memchr(target + before, '-', bytes - before);
        const size_t left = dash == NULL ? 0 : bytes - (size_t)(dash - target);
        if (left >= sizeof processor - 1 && memcmp(dash, processor, sizeof processor - 1) == 0 &&
            (left == sizeof processor - 1 || dash[sizeof processor - 1] == ':'))
            return true;
    }
    return false;
}

enum hip_code hip_bundle_entry(struct hip_span image, struct hip_span *found, const char **reason)
{
    uint64_t count;
    size_t at = MAGIC_BYTES;
    *reason = "an entry of the offload bundle does not fit into it";
    if (image.bytes - at < sizeof count)
        return HIP_CODE_UNKNOWN;
    memcpy(&count, image.at + at, sizeof count);
    at += sizeof count;
    for (uint64_t i = 0; i < count; i++) {
        struct entry entry;
        if (image.bytes - at < sizeof entry)
            return HIP_CODE_UNKNOWN;
        memcpy(&entry, image.at + at, sizeof entry);
        at += sizeof entry;
        if (entry.target_bytes > image.bytes - at || entry.offset > image.bytes ||
            entry.bytes > image.bytes - entry.offset)
            return HIP_CODE_UNKNOWN;
        if (is_ours(image.at + at, entry.target_bytes)) {
            *found = (struct hip_span){image.at + entry.offset, entry.bytes};
            return HIP_CODE_TEXT;
        }
        at += entry.target_bytes;
    }
    *reason = "the offload bundle has nothing for the target amdgcn-amd-amdhsa--sim";
    return HIP_CODE_NOTHING;
}

struct compressed {
    struct hip_span data;
    uint64_t bytes; /* decompressed */
    unsigned method;
};

/* Version 1 has no size, so HIP does not load it from memory either. */
static bool read_head(struct hip_span image, struct compressed *head)
{
    struct {
        char magic[COMPRESSED_MAGIC_BYTES];
        uint16_t version, method;
    } first;
    uint64_t sizes[2] = {image.bytes, 0}; /* total, decompressed */
    uint32_t narrow[2];
    if (image.bytes < sizeof first)
        return false;
    memcpy(&first, image.at, sizeof first);
    const size_t at = sizeof first;
    size_t sizes_bytes = first.version == 3 ? sizeof sizes : sizeof narrow;
    if (first.version == 1)
        sizes_bytes = sizeof *narrow;
    const size_t head_bytes = at + sizes_bytes + sizeof(uint64_t); /* a hash */
    if (first.version == 0 || first.version > 3 || image.bytes < head_bytes ||
        (first.version == 1 && image.bytes == HIP_CODE_UNSIZED))
        return false;
    if (first.version == 3) {
        memcpy(sizes, image.at + at, sizeof sizes);
    } else {
        memcpy(narrow, image.at + at, sizes_bytes);
        sizes[0] = first.version == 1 ? image.bytes : narrow[0];
        sizes[1] = first.version == 1 ? narrow[0] : narrow[1];
    }
    if (sizes[0] < head_bytes || sizes[0] > image.bytes || sizes[1] == 0 || sizes[1] > BUNDLE_MAX)
        return false;
    *head = (struct compressed){{image.at + head_bytes, sizes[0] - head_bytes}, sizes[1], first.method};
    return true;
}

enum hip_code hip_bundle_decompress(struct hip_span image, unsigned char **bundle, size_t *bytes,
                                    const char **reason)
{
    struct compressed head;
    *reason = "the header of the compressed offload bundle contradicts itself";
    if (!read_head(image, &head) || head.method > METHOD_ZSTD)
        return HIP_CODE_UNKNOWN;
    *reason = "no memory for the decompressed offload bundle";
    *bytes = head.bytes;
    *bundle = malloc(*bytes);
    if (*bundle == NULL)
        return HIP_CODE_NO_MEMORY;
    const enum sim_codec codec = head.method == METHOD_ZSTD ? SIM_CODEC_ZSTD : SIM_CODEC_ZLIB;
    const enum sim_decompressed result =
        sim_decompress(codec, head.data.at, head.data.bytes, *bundle, *bytes);
    if (result == SIM_DECOMPRESSED)
        return HIP_CODE_TEXT;
    free(*bundle);
    *reason = result == SIM_DECOMPRESS_NO_LIBRARY ? sim_codec_package(codec)
                                                  : "the compressed offload bundle does not decompress";
    return result == SIM_DECOMPRESS_NO_LIBRARY ? HIP_CODE_NO_LIBRARY : HIP_CODE_CORRUPT;
}
