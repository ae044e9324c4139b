#include "core/image/image.h"

#include <stdio.h>

#include "core/image/bundle.h"
#include "core/image/compressed_bundle.h"
#include "core/image/elf_view.h"
#include "core/image/fatbin.h"

#define MAGIC_FATBIN_WRAPPER 0x466243b1u
#define MAGIC_HIP_WRAPPER    0x48495046u /* "HIPF" */

struct fatbin_wrapper {
    uint32_t magic;
    uint32_t version;
    const void *data;
    const void *file_or_prelinked;
};

_Static_assert(sizeof(struct fatbin_wrapper) == 24, "as nvcc writes it");

static struct nb_extent make_known(struct nb_view view, uint64_t bytes, enum nb_image_format format)
{
    return (struct nb_extent){view.start, bytes, format, ""};
}

static struct nb_extent make_unknown(struct nb_view view, enum nb_image_format format, const char *why,
                                     uint32_t magic)
{
    struct nb_extent extent = {view.start, 0, format, ""};
    snprintf(extent.problem, sizeof extent.problem, "%s (magic 0x%08x)", why, magic);
    return extent;
}

/* Return offset + count * size, or UINT64_MAX if the sum is too large for an image. */
static uint64_t table_end(uint64_t offset, uint64_t count, uint64_t size)
{
    uint64_t bytes, end;
    if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(offset, bytes, &end) ||
        end > NB_IMAGE_MAX)
        return UINT64_MAX;
    return end;
}

static struct nb_extent measure_elf(struct nb_view view)
{
    Elf64_Ehdr header;
    if (!nb_view_read(view, 0, &header, sizeof header))
        return make_unknown(view, NB_IMAGE_ELF, "ELF header cut short", NB_ELF_MAGIC);
    const enum nb_image_format format =
        header.e_machine == NB_EM_AMDGPU ? NB_IMAGE_CODE_OBJECT : NB_IMAGE_ELF;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return make_unknown(view, format, "ELF is not 64-bit little-endian", NB_ELF_MAGIC);
    /* Section 0 stores a count that does not fit its field (elf(5), e_phnum and e_shnum). */
    uint64_t section_count = header.e_shnum, segment_count = header.e_phnum;
    Elf64_Shdr section;
    if (header.e_shoff != 0 && (section_count == 0 || segment_count == PN_XNUM)) {
        if (header.e_shentsize < sizeof section ||
            !nb_view_read(view, header.e_shoff, &section, sizeof section))
            return make_unknown(view, format, "ELF section 0 out of reach", NB_ELF_MAGIC);
        section_count = section_count == 0 ? section.sh_size : section_count;
        segment_count = segment_count == PN_XNUM ? section.sh_info : segment_count;
    }
    uint64_t end = sizeof header;
    const uint64_t ends[] = {table_end(header.e_shoff, section_count, header.e_shentsize),
                             table_end(header.e_phoff, segment_count, header.e_phentsize)};
    for (size_t i = 0; i < 2; i++) {
        if (ends[i] > view.bytes)
            return make_unknown(view, format, "ELF table ends beyond the image", NB_ELF_MAGIC);
        end = ends[i] > end ? ends[i] : end;
    }
    for (uint64_t i = 0; i < section_count; i++) {
        if (header.e_shentsize < sizeof section ||
            !nb_view_read(view, header.e_shoff + i * header.e_shentsize, &section, sizeof section))
            return make_unknown(view, format, "ELF section out of reach", NB_ELF_MAGIC);
        if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
            continue;
        const uint64_t section_end = table_end(section.sh_offset, section.sh_size, 1);
        if (section_end > view.bytes)
            return make_unknown(view, format, "ELF section ends beyond the image", NB_ELF_MAGIC);
        end = section_end > end ? section_end : end;
    }
    for (uint64_t i = 0; i < segment_count; i++) {
        Elf64_Phdr segment;
        if (header.e_phentsize < sizeof segment ||
            !nb_view_read(view, header.e_phoff + i * header.e_phentsize, &segment, sizeof segment))
            return make_unknown(view, format, "ELF segment out of reach", NB_ELF_MAGIC);
        const uint64_t segment_end = table_end(segment.p_offset, segment.p_filesz, 1);
        if (segment_end > view.bytes)
            return make_unknown(view, format, "ELF segment ends beyond the image", NB_ELF_MAGIC);
        end = segment_end > end ? segment_end : end;
    }
    return make_known(view, end, format);
}

static struct nb_extent measure_fatbin(struct nb_view view)
{
    struct nb_fatbin_header header;
    if (!nb_view_read(view, 0, &header, sizeof header) || header.header_bytes < sizeof header)
        return make_unknown(view, NB_IMAGE_FATBIN, "fatbin header cut short", NB_FATBIN_MAGIC);
    const uint64_t bytes = table_end(header.header_bytes, header.payload_bytes, 1);
    if (bytes > view.bytes)
        return make_unknown(view, NB_IMAGE_FATBIN, "fatbin ends beyond the image", NB_FATBIN_MAGIC);
    return make_known(view, bytes, NB_IMAGE_FATBIN);
}

static struct nb_extent measure_bundle(struct nb_view view, uint32_t magic)
{
    struct nb_bundle_walk walk;
    struct nb_bundle_entry entry;
    if (!nb_bundle_begin(view, &walk))
        return make_unknown(view, NB_IMAGE_OFFLOAD_BUNDLE,
                            "offload bundle with an implausible number of entries", magic);
    uint64_t end = 0;
    while (nb_bundle_next(&walk, &entry)) {
        const uint64_t entry_end = (uint64_t)(entry.code.start - view.start) + entry.code.bytes;
        end = entry_end > end ? entry_end : end;
    }
    if (walk.left != 0)
        return make_unknown(view, NB_IMAGE_OFFLOAD_BUNDLE, "offload bundle ends beyond the image", magic);
    return make_known(view, walk.at > end ? walk.at : end, NB_IMAGE_OFFLOAD_BUNDLE);
}

static struct nb_extent measure_compressed_bundle(struct nb_view view)
{
    const uint64_t bytes = nb_compressed_bundle_bytes(view);
    if (bytes == 0)
        return make_unknown(view, NB_IMAGE_COMPRESSED_BUNDLE, "compressed bundle without a size",
                            NB_COMPRESSED_BUNDLE_MAGIC);
    if (bytes > view.bytes || bytes > NB_IMAGE_MAX)
        return make_unknown(view, NB_IMAGE_COMPRESSED_BUNDLE, "compressed bundle ends beyond the image",
                            NB_COMPRESSED_BUNDLE_MAGIC);
    return make_known(view, bytes, NB_IMAGE_COMPRESSED_BUNDLE);
}

/* PTX begins with white space, a comment or a directive. PTX of nvcc begins with newlines. */
static struct nb_extent measure_text(struct nb_view view, uint32_t magic)
{
    const uint64_t cap = view.bytes < NB_IMAGE_MAX ? view.bytes : NB_IMAGE_MAX;
    if (cap == 0 || strchr("\n\r\t /.", view.start[0]) == NULL || view.start[0] == 0)
        return make_unknown(view, NB_IMAGE_UNKNOWN, "unknown image format", magic);
    const size_t length = strnlen((const char *)view.start, cap);
    if (length == view.bytes)
        return make_unknown(view, NB_IMAGE_PTX, "text without an end", magic);
    return make_known(view, length + 1, NB_IMAGE_PTX);
}

struct nb_extent nb_image_measure(const void *image, size_t limit, int follow)
{
    const struct nb_view view = {image, limit};
    if (image == NULL)
        return make_unknown(view, NB_IMAGE_UNKNOWN, "no image", 0);
    uint32_t magic = 0;
    if (!nb_view_read(view, 0, &magic, sizeof magic))
        return limit == 0 ? make_unknown(view, NB_IMAGE_UNKNOWN, "no bytes", 0) : measure_text(view, 0);
    if (magic == MAGIC_FATBIN_WRAPPER || magic == MAGIC_HIP_WRAPPER) {
        struct fatbin_wrapper wrapper;
        if (!follow || !nb_view_read(view, 0, &wrapper, sizeof wrapper) || wrapper.data == NULL)
            return make_unknown(view, NB_IMAGE_FATBIN, "fatbin wrapper without a target", magic);
        return nb_image_measure(wrapper.data, limit, 0);
    }
    if (magic == NB_FATBIN_MAGIC)
        return measure_fatbin(view);
    if (magic == NB_ELF_MAGIC)
        return measure_elf(view);
    if (magic == NB_COMPRESSED_BUNDLE_MAGIC)
        return measure_compressed_bundle(view);
    if (nb_is_bundle(view))
        return measure_bundle(view, magic);
    return measure_text(view, magic);
}

struct nb_extent nb_image_elf(const void *image, uint64_t bytes)
{
    const struct nb_view view = {image, bytes};
    const struct nb_extent none = {NULL, 0, NB_IMAGE_UNKNOWN, ""};
    struct nb_fatbin_header header;
    uint32_t magic = 0;
    if (!nb_view_read(view, 0, &magic, sizeof magic))
        return none;
    if (magic == NB_ELF_MAGIC)
        return make_known(view, bytes, NB_IMAGE_ELF);
    if (magic != NB_FATBIN_MAGIC || !nb_view_read(view, 0, &header, sizeof header))
        return none;
    struct nb_extent best = none;
    uint32_t newest = 0;
    struct nb_fatbin_entry entry;
    for (uint64_t at = header.header_bytes; nb_view_read(view, at, &entry, sizeof entry);) {
        const uint64_t payload = table_end(at, 1, entry.header_bytes);
        const uint64_t next = table_end(payload, 1, entry.payload_bytes);
        if (entry.header_bytes < sizeof entry || payload > bytes || next > bytes)
            break;
        if (entry.kind == NB_FATBIN_ELF && entry.compressed_bytes == 0 && entry.architecture >= newest) {
            newest = entry.architecture;
            best = (struct nb_extent){view.start + payload, entry.payload_bytes, NB_IMAGE_ELF, ""};
        }
        at = next;
    }
    return best;
}
