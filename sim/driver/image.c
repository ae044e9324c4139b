#include "image.h"

#include "model.h"
#include "target.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC  0xba55ed50u
#define KIND_PTX      1u
#define FLAG_LZ4      0x2000u
#define FLAG_ZSTD     0x8000u

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *filename;
};

struct fatbin {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of the entries */
};

struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes;
    uint32_t unknown[2];
    uint32_t target, unknown2[2];
    uint64_t flags;
    uint64_t unknown3;
    uint64_t uncompressed_bytes;
};

_Static_assert(offsetof(struct entry, target) == 28, "format of others");
_Static_assert(offsetof(struct entry, flags) == 40, "format of others");
_Static_assert(offsetof(struct entry, uncompressed_bytes) == 56, "format of others");

static CUresult from_fatbin(const unsigned char *image, const char **text, size_t *bytes, const char **reason)
{
    struct fatbin header;
    memcpy(&header, image, sizeof header);
    uint32_t best = 0;
    CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
    *reason = "the fat binary holds no PTX, and this device runs no machine code; compile with PTX";
    for (uint64_t at = 0; header.bytes - at >= 40;) {
        struct entry entry = {0};
        const unsigned char *where = image + header.header_bytes + at;
        memcpy(&entry, where, header.bytes - at < sizeof entry ? 40 : sizeof entry);
        const uint64_t rest = header.bytes - at;
        if (entry.header_bytes < 40 || entry.header_bytes > rest ||
            entry.payload_bytes > rest - entry.header_bytes) {
            *reason = "an entry of the fat binary does not fit into it";
            return CUDA_ERROR_INVALID_IMAGE;
        }
        const bool compressed = (entry.flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
        if (entry.kind == KIND_PTX && compressed && result != CUDA_SUCCESS) {
            result = CUDA_ERROR_NOT_SUPPORTED;
            *reason = (entry.flags & FLAG_ZSTD) != 0
                          ? "the PTX is compressed (flag 0x8000, zstd); compile with nvcc --no-compress"
                          : "the PTX is compressed (flag 0x2000, LZ4); compile with nvcc --no-compress";
        } else if (entry.kind == KIND_PTX && !compressed && entry.target <= sim_model_target() &&
                   entry.target >= best) {
            best = entry.target;
            *text = (const char *)where + entry.header_bytes;
            *bytes = strnlen(*text, (size_t)entry.payload_bytes);
            result = CUDA_SUCCESS;
        }
        at += entry.header_bytes + entry.payload_bytes;
    }
    return result;
}

CUresult sim_image_text(const void *image, const char **text, size_t *bytes, const char **reason)
{
    uint32_t magic = 0;
    const unsigned char *start = image;
    if (start[0] == '\0') {
        *reason = "the image is empty";
        return CUDA_ERROR_INVALID_IMAGE;
    }
    for (size_t i = 0; i < 4 && start[i] != '\0'; i++)
        magic |= (uint32_t)start[i] << (8 * i);
    if (magic == WRAPPER_MAGIC) {
        struct wrapper wrapper;
        memcpy(&wrapper, image, sizeof wrapper);
        start = wrapper.data;
        memcpy(&magic, start, sizeof magic);
    }
    if (magic == FATBIN_MAGIC) {
        const CUresult result = from_fatbin(start, text, bytes, reason);
        return result == CUDA_SUCCESS ? sim_target_check(*text, *bytes, reason) : result;
    }
    if (magic == 0x464c457fu) {
        *reason = "the image is machine code (ELF), and this device runs PTX only";
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    for (const unsigned char *byte = start; *byte != '\0'; byte++)
        if (*byte >= 0x80 || (*byte < ' ' && strchr("\t\n\v\f\r", *byte) == NULL)) {
            *reason = "the image is neither PTX text nor a fat binary";
            return CUDA_ERROR_INVALID_IMAGE;
        }
    *text = (const char *)start;
    *bytes = strlen(*text);
    return sim_target_check(*text, *bytes, reason);
}

CUresult sim_image_read(const char *path, void **image)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return CUDA_ERROR_FILE_NOT_FOUND;
    char *bytes = NULL;
    size_t used = 0;
    size_t capacity = 0;
    CUresult result = CUDA_SUCCESS;
    for (;;) {
        if (used + 1 >= capacity) {
            capacity = capacity == 0 ? 1u << 16 : capacity * 2;
            char *larger = realloc(bytes, capacity);
            if (larger == NULL) {
                result = CUDA_ERROR_OUT_OF_MEMORY;
                break;
            }
            bytes = larger;
        }
        const size_t got = fread(bytes + used, 1, capacity - used - 1, file);
        used += got;
        if (got == 0)
            break;
    }
    if (result == CUDA_SUCCESS && ferror(file))
        result = CUDA_ERROR_FILE_NOT_FOUND;
    (void)fclose(file);
    if (result != CUDA_SUCCESS) {
        free(bytes);
        return result;
    }
    bytes[used] = '\0';
    *image = bytes;
    return CUDA_SUCCESS;
}
