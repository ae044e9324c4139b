/* Images that HIP programs load. This device runs the PTX in them:
 *
 * - PTX text;
 * - a code object: an ELF for AMD GPUs with the PTX in a section ".ptx" (tests/support/code_objects.py);
 * - clang's offload bundle, plain or compressed, with one of these for the target "sim".
 *
 * Formats: LLVM's "User Guide for AMDGPU Backend", clang's "Clang Offload Bundler". */
#ifndef NEUTRINO_SIM_HIP_CODE_H
#define NEUTRINO_SIM_HIP_CODE_H

#include <stdbool.h>
#include <stddef.h>

/* The size of an image in memory is unknown: only its own headers have it. */
#define HIP_CODE_UNSIZED (SIZE_MAX / 2)

enum hip_code {
    HIP_CODE_TEXT,
    HIP_CODE_UNKNOWN, /* an unknown format, or a contradiction */
    HIP_CODE_NOTHING, /* no code for this device */
    HIP_CODE_CORRUPT, /* decompresses to another size than declared */
    HIP_CODE_NO_LIBRARY,
    HIP_CODE_NO_MEMORY
};

struct hip_text {
    char *text; /* NUL-terminated; free it */
    size_t bytes;
};

/* Reads no byte beyond `bytes`. Sets `reason` to a static string for every result but HIP_CODE_TEXT. */
enum hip_code hip_code_text(const void *image, size_t bytes, struct hip_text *text, const char **reason);

/* A span of bytes within an image. */
struct hip_span {
    const unsigned char *at;
    size_t bytes;
};

bool hip_is_code_object(struct hip_span image);

/* The section ".ptx". */
enum hip_code hip_code_object_text(struct hip_span image, struct hip_span *text, const char **reason);

bool hip_is_bundle(struct hip_span image);

/* The entry for this device. */
enum hip_code hip_bundle_entry(struct hip_span image, struct hip_span *entry, const char **reason);

bool hip_is_compressed_bundle(struct hip_span image);

/* The caller frees `bundle`. */
enum hip_code hip_bundle_decompress(struct hip_span image, unsigned char **bundle, size_t *bytes,
                                    const char **reason);

#endif
