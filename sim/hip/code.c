#include "hip/code.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sanity limit, far above compiler output. */
#define TEXT_MAX ((size_t)256 << 20)

/* Skips white space and comments before .version. */
static bool is_text(struct hip_span image)
{
    return image.bytes != 0 && (image.at[0] == '.' || image.at[0] == '/' || image.at[0] == ' ' ||
                                image.at[0] == '\n' || image.at[0] == '\t' || image.at[0] == '\r');
}

static enum hip_code copy_text(struct hip_span from, struct hip_text *text, const char **reason)
{
    const size_t bytes = strnlen((const char *)from.at, from.bytes < TEXT_MAX ? from.bytes : TEXT_MAX);
    *reason = "the PTX has more than 256 MiB";
    if (bytes == TEXT_MAX)
        return HIP_CODE_UNKNOWN;
    *reason = "no memory for the PTX";
    text->text = malloc(bytes + 1);
    if (text->text == NULL)
        return HIP_CODE_NO_MEMORY;
    memcpy(text->text, from.at, bytes);
    text->text[bytes] = '\0';
    text->bytes = bytes;
    return HIP_CODE_TEXT;
}

/* The code in an entry of a bundle, or in an image that is not a bundle. */
static enum hip_code from_entry(struct hip_span image, struct hip_text *text, const char **reason)
{
    struct hip_span part = image;
    enum hip_code result = HIP_CODE_TEXT;
    *reason = "it is neither PTX, nor a code object, nor an offload bundle";
    if (hip_is_code_object(image))
        result = hip_code_object_text(image, &part, reason);
    else if (!is_text(image))
        result = HIP_CODE_UNKNOWN;
    return result == HIP_CODE_TEXT ? copy_text(part, text, reason) : result;
}

static enum hip_code from_bundle(struct hip_span image, struct hip_text *text, const char **reason)
{
    struct hip_span entry;
    const enum hip_code result = hip_bundle_entry(image, &entry, reason);
    return result == HIP_CODE_TEXT ? from_entry(entry, text, reason) : result;
}

enum hip_code hip_code_text(const void *image, size_t bytes, struct hip_text *text, const char **reason)
{
    const struct hip_span whole = {image, bytes};
    if (hip_is_bundle(whole))
        return from_bundle(whole, text, reason);
    if (!hip_is_compressed_bundle(whole))
        return from_entry(whole, text, reason);
    unsigned char *bundle;
    size_t bundle_bytes;
    enum hip_code result = hip_bundle_decompress(whole, &bundle, &bundle_bytes, reason);
    if (result == HIP_CODE_TEXT) {
        const struct hip_span inside = {bundle, bundle_bytes};
        *reason = "the compressed bundle holds no bundle";
        result = hip_is_bundle(inside) ? from_bundle(inside, text, reason) : HIP_CODE_UNKNOWN;
        free(bundle);
    }
    return result;
}
