#include "driver/code/fatbin.h"

#include "driver/code/decompress.h"

#include <stdlib.h>
#include <string.h>

#define KIND_PTX          1u /* another kind is 8, LTO-IR */
#define KIND_MACHINE_CODE 2u

#define FLAG_LZ4  0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAG_SPECIFIC                                                                                        \
    0x100000u /* architecture-specific, as sm_90a; 0x200000 is family-specific, as sm_100f */

/* Sanity limit, far above compiler output: a corrupt size must not exhaust memory. */
#define TEXT_MAX (UINT64_C(256) << 20)

struct head {
    uint32_t magic;
    uint16_t version, head_bytes;
    uint64_t bytes; /* of the entries */
};
_Static_assert(sizeof(struct head) == SIM_FATBIN_HEAD, "layout of another tool's format");

struct entry {
    uint16_t kind, version;
    uint32_t head_bytes;
    uint64_t payload_bytes; /* with padding */
    uint32_t compressed_bytes;
    uint32_t options;
    uint16_t ptx_minor, ptx_major;
    uint32_t target;
    uint32_t source_name, source_name_bytes;
    uint64_t flags;
    uint64_t reserved;
    uint64_t raw_bytes; /* after decompression */
};
_Static_assert(offsetof(struct entry, target) == 28, "layout of another tool's format");
_Static_assert(offsetof(struct entry, flags) == 40, "layout of another tool's format");
_Static_assert(sizeof(struct entry) == 64, "layout of another tool's format");

struct choice {
    struct entry entry;
    const unsigned char *payload; /* NULL: no entry chosen yet */
};

size_t sim_fatbin_bytes(const void *image)
{
    struct head head;
    size_t bytes;
    memcpy(&head, image, sizeof head);
    if (head.magic != SIM_FATBIN_MAGIC || head.head_bytes < sizeof head ||
        __builtin_add_overflow(head.bytes, (uint64_t)head.head_bytes, &bytes))
        return 0;
    return bytes;
}

static bool is_better(const struct entry *entry, const struct choice *best, unsigned kind, uint32_t device)
{
    if (entry->kind != kind || entry->target > device)
        return false;
    if (best->payload == NULL || entry->target != best->entry.target)
        return best->payload == NULL || entry->target > best->entry.target;
    return (entry->flags & FLAG_SPECIFIC) >= (best->entry.flags & FLAG_SPECIFIC);
}

/* Walk the entries at `at`, which end after `left` bytes. */
static bool choose_entry(const unsigned char *at, size_t left, unsigned kind, uint32_t device,
                         struct choice *best, const char **reason)
{
    while (left != 0) {
        struct entry entry;
        *reason = "an entry of the fat binary extends past its end";
        if (left < sizeof entry)
            return false;
        memcpy(&entry, at, sizeof entry);
        if (entry.head_bytes < sizeof entry || entry.head_bytes > left ||
            entry.payload_bytes > left - entry.head_bytes)
            return false;
        *reason = "an entry of the fat binary has a compressed size above its stored size";
        if (entry.compressed_bytes > entry.payload_bytes)
            return false;
        if (is_better(&entry, best, kind, device))
            *best = (struct choice){entry, at + entry.head_bytes};
        at += entry.head_bytes + entry.payload_bytes;
        left -= entry.head_bytes + entry.payload_bytes;
    }
    return true;
}

static enum sim_fatbin unpack(const struct choice *choice, struct sim_text *text, const char **reason)
{
    const struct entry *entry = &choice->entry;
    const enum sim_codec codec = (entry->flags & FLAG_ZSTD) != 0 ? SIM_CODEC_ZSTD : SIM_CODEC_LZ4;
    *reason = "Uncompress failed: the declared size of the PTX exceeds 256 MiB";
    if (entry->raw_bytes > TEXT_MAX)
        return SIM_FATBIN_CORRUPT;
    *reason = "Uncompress failed: the PTX is empty";
    if (entry->raw_bytes == 0 || entry->compressed_bytes == 0)
        return SIM_FATBIN_CORRUPT;
    const size_t bytes = (size_t)entry->raw_bytes;
    *reason = "out of memory for the decompressed PTX";
    text->owned = malloc(bytes);
    if (text->owned == NULL)
        return SIM_FATBIN_NO_MEMORY;
    const enum sim_decompressed result =
        sim_decompress(codec, choice->payload, entry->compressed_bytes, text->owned, bytes);
    if (result == SIM_DECOMPRESSED) {
        text->text = text->owned;
        text->bytes = bytes;
        return SIM_FATBIN_TEXT;
    }
    free(text->owned);
    text->owned = NULL;
    if (result == SIM_DECOMPRESS_CORRUPT) {
        *reason = "Uncompress failed";
        return SIM_FATBIN_CORRUPT;
    }
    *reason = sim_codec_package(codec);
    return SIM_FATBIN_NO_LIBRARY;
}

static enum sim_fatbin read_entry(const void *image, size_t bytes, unsigned kind, uint32_t device,
                                  struct sim_text *text, const char **reason)
{
    struct choice best = {.payload = NULL};
    struct head head;
    *text = (struct sim_text){NULL, 0, NULL};
    *reason = "the fat binary is truncated";
    if (bytes < sizeof head)
        return SIM_FATBIN_MALFORMED;
    const size_t declared = sim_fatbin_bytes(image);
    if (declared == 0 || declared > bytes)
        return SIM_FATBIN_MALFORMED;
    memcpy(&head, image, sizeof head);
    if (!choose_entry((const unsigned char *)image + head.head_bytes, declared - head.head_bytes, kind,
                      device, &best, reason))
        return SIM_FATBIN_MALFORMED;
    if (best.payload == NULL) {
        *reason = "the fat binary contains no PTX for this device, which cannot run machine code";
        return SIM_FATBIN_NOTHING;
    }
    if ((best.entry.flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0)
        return unpack(&best, text, reason);
    text->text = (const char *)best.payload;
    text->bytes = (size_t)best.entry.payload_bytes;
    return SIM_FATBIN_TEXT;
}

enum sim_fatbin sim_fatbin_text(const void *image, size_t bytes, uint32_t device, struct sim_text *text,
                                const char **reason)
{
    const enum sim_fatbin result = read_entry(image, bytes, KIND_PTX, device, text, reason);
    if (result == SIM_FATBIN_TEXT)
        text->bytes = strnlen(text->text, text->bytes);
    return result;
}

bool sim_fatbin_is_device_runtime(const void *image, size_t bytes, uint32_t device)
{
    static const char symbol[] = "__cudaCDP2LaunchDevice";
    struct sim_text code;
    const char *reason;
    const bool found =
        read_entry(image, bytes, KIND_MACHINE_CODE, device, &code, &reason) == SIM_FATBIN_TEXT &&
        memmem(code.text, code.bytes, symbol, sizeof symbol) != NULL;
    free(code.owned);
    return found;
}
