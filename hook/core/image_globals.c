#include "image_globals.h"

#include <elf.h>
#include <stdlib.h>

#include "fatbin.h"
#include "unpack.h"

#define MAGIC_ELF           0x464c457fu
#define SYMBOL_MANAGED      4u /* st_other: STO_CUDA_MANAGED, nvcc 13.0 */
#define UNPACKED_MAX        (UINT64_C(1) << 30)
#define ARCHITECTURE_FAMILY 10u /* code for 8.6 runs on 8.9, not on 9.0 */

static const char *const kept_sections[] = {".nv.global", ".nv.global.init", ".nv.constant3"};

/* A cubin that is being read. */
struct elf {
    struct nb_view image;
    Elf64_Ehdr header;
    uint64_t section_count;
    struct nb_view section_names;
};

static bool read_section(const struct elf *elf, uint64_t index, Elf64_Shdr *section)
{
    return index < elf->section_count &&
           nb_view_read(elf->image, elf->header.e_shoff + index * elf->header.e_shentsize, section,
                        sizeof *section);
}

static bool read_elf(struct nb_view image, struct elf *elf)
{
    Elf64_Shdr section;
    *elf = (struct elf){.image = image, .section_count = 1};
    if (!nb_view_read(image, 0, &elf->header, sizeof elf->header) ||
        elf->header.e_ident[EI_CLASS] != ELFCLASS64 || elf->header.e_shentsize < sizeof section ||
        elf->header.e_shoff > image.bytes || !read_section(elf, 0, &section))
        return false;
    /* What does not fit the header's fields stands in section 0 (elf(5), e_shnum and e_shstrndx). */
    elf->section_count = elf->header.e_shnum != 0 ? elf->header.e_shnum : section.sh_size;
    const uint64_t names =
        elf->header.e_shstrndx != SHN_XINDEX ? elf->header.e_shstrndx : (uint64_t)section.sh_link;
    if (elf->section_count > image.bytes / elf->header.e_shentsize)
        return false;
    return read_section(elf, names, &section) &&
           nb_view_narrow(image, section.sh_offset, section.sh_size, &elf->section_names);
}

/* The string at `offset` of a table, NULL if it has no end in it. */
static const char *string_at(struct nb_view table, uint64_t offset, size_t *length)
{
    if (offset >= table.bytes)
        return NULL;
    *length = strnlen((const char *)table.start + offset, table.bytes - offset);
    return *length < table.bytes - offset ? (const char *)table.start + offset : NULL;
}

static bool is_kept_section(const struct elf *elf, uint64_t index)
{
    Elf64_Shdr section;
    size_t length;
    if (!read_section(elf, index, &section))
        return false;
    const char *name = string_at(elf->section_names, section.sh_name, &length);
    for (size_t i = 0; name != NULL && i < sizeof kept_sections / sizeof *kept_sections; i++)
        if (strcmp(name, kept_sections[i]) == 0)
            return true;
    return false;
}

static const char *visit_symbols(const struct elf *elf, const Elf64_Shdr *table, nb_image_global_visit *visit,
                                 void *context)
{
    Elf64_Shdr string_section;
    struct nb_view symbols, strings;
    if (!nb_view_narrow(elf->image, table->sh_offset, table->sh_size, &symbols) ||
        !read_section(elf, table->sh_link, &string_section) ||
        !nb_view_narrow(elf->image, string_section.sh_offset, string_section.sh_size, &strings))
        return "its symbol table lies outside the image";
    Elf64_Sym symbol;
    for (uint64_t at = 0; nb_view_read(symbols, at, &symbol, sizeof symbol); at += sizeof symbol) {
        size_t length;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF)
            continue;
        if (symbol.st_shndx == SHN_XINDEX)
            return "it has more sections than a symbol can name";
        if (!is_kept_section(elf, symbol.st_shndx))
            continue;
        const char *name = string_at(strings, symbol.st_name, &length);
        if (name == NULL || length >= NB_GLOBAL_NAME_MAX)
            return "a symbol of it has no sane name";
        if (length > 0)
            visit(name, (symbol.st_other & SYMBOL_MANAGED) != 0, context);
    }
    return NULL;
}

static const char *visit_elf(struct nb_view image, nb_image_global_visit *visit, void *context)
{
    struct elf elf;
    Elf64_Shdr section;
    if (!read_elf(image, &elf))
        return "its section table cannot be read";
    for (uint64_t i = 0; i < elf.section_count; i++) {
        if (!read_section(&elf, i, &section))
            return "its section table cannot be read";
        if (section.sh_type == SHT_SYMTAB)
            return visit_symbols(&elf, &section, visit, context);
    }
    return "it has no symbol table";
}

/* A cubin or PTX. */
static const char *visit_code(struct nb_view code, nb_image_global_visit *visit, void *context)
{
    uint32_t magic;
    if (nb_view_read(code, 0, &magic, sizeof magic) && magic == MAGIC_ELF)
        return visit_elf(code, visit, context);
    return nb_ptx_globals(code, visit, context);
}

static const char *visit_entry(const struct nb_fatbin_entry *entry, struct nb_view payload,
                               nb_image_global_visit *visit, void *context)
{
    const bool zstd = (entry->flags & NB_FATBIN_FLAG_ZSTD) != 0;
    if (!zstd && (entry->flags & NB_FATBIN_FLAG_LZ4) == 0)
        return visit_code(payload, visit, context);
    if (entry->compressed_bytes > payload.bytes || entry->uncompressed_bytes > UNPACKED_MAX)
        return "an entry of the fat binary declares an impossible size";
    const size_t bytes = (size_t)entry->uncompressed_bytes;
    unsigned char *raw = malloc(bytes != 0 ? bytes : 1);
    if (raw == NULL)
        return "there is no memory to decompress it";
    const char *problem = zstd ? nb_unpack_zstd(payload.start, entry->compressed_bytes, raw, bytes)
                               : nb_unpack_lz4(payload.start, entry->compressed_bytes, raw, bytes);
    if (problem == NULL)
        problem = visit_code((struct nb_view){raw, bytes}, visit, context);
    free(raw);
    return problem;
}

/* Walks a fat binary's entries. */
struct walk {
    struct nb_view image;
    uint64_t at;
    struct nb_fatbin_entry entry;
    struct nb_view payload;
};

static bool next_entry(struct walk *walk)
{
    uint64_t payload, next;
    if (!nb_view_read(walk->image, walk->at, &walk->entry, sizeof walk->entry) ||
        walk->entry.header_bytes < sizeof walk->entry ||
        __builtin_add_overflow(walk->at, walk->entry.header_bytes, &payload) ||
        __builtin_add_overflow(payload, walk->entry.payload_bytes, &next) ||
        !nb_view_narrow(walk->image, payload, walk->entry.payload_bytes, &walk->payload))
        return false;
    walk->at = next;
    return true;
}

static bool runs_on(const struct nb_fatbin_entry *entry, uint32_t architecture)
{
    if (entry->architecture > architecture)
        return false;
    return entry->kind == NB_FATBIN_PTX ||
           (entry->kind == NB_FATBIN_ELF &&
            entry->architecture / ARCHITECTURE_FAMILY == architecture / ARCHITECTURE_FAMILY);
}

/* The driver prefers machine code to PTX and a newer target to an older one. */
static bool is_preferred(const struct nb_fatbin_entry *entry, const struct nb_fatbin_entry *best)
{
    if (entry->kind != best->kind)
        return entry->kind == NB_FATBIN_ELF;
    return entry->architecture > best->architecture;
}

/* Two entries may be for the preferred target (sm_90 and sm_90a): both are visited. */
static const char *visit_fatbin(struct nb_view image, uint32_t architecture, nb_image_global_visit *visit,
                                void *context)
{
    struct nb_fatbin_header header;
    if (!nb_view_read(image, 0, &header, sizeof header) || header.header_bytes < sizeof header)
        return "the fat binary is cut short";
    struct nb_fatbin_entry best = {.kind = 0};
    for (struct walk walk = {.image = image, .at = header.header_bytes}; next_entry(&walk);)
        if (runs_on(&walk.entry, architecture) && (best.kind == 0 || is_preferred(&walk.entry, &best)))
            best = walk.entry;
    if (best.kind == 0)
        return "the fat binary has neither machine code nor PTX for the device";
    const char *problem = NULL;
    for (struct walk walk = {.image = image, .at = header.header_bytes}; next_entry(&walk);)
        if (walk.entry.kind == best.kind && walk.entry.architecture == best.architecture) {
            const char *what = visit_entry(&walk.entry, walk.payload, visit, context);
            problem = problem != NULL ? problem : what;
        }
    return problem;
}

const char *nb_image_globals(const void *image, uint64_t bytes, uint32_t architecture,
                             nb_image_global_visit *visit, void *context)
{
    const struct nb_view view = {image, bytes};
    uint32_t magic;
    if (nb_view_read(view, 0, &magic, sizeof magic) && magic == NB_FATBIN_MAGIC)
        return visit_fatbin(view, architecture, visit, context);
    return visit_code(view, visit, context);
}
