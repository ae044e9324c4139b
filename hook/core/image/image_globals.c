#include "core/image/image_globals.h"

#include <stdlib.h>

#include "core/image/bundle.h"
#include "core/image/elf_view.h"
#include "core/image/fatbin.h"
#include "core/image/unpack.h"

#define SYMBOL_MANAGED      4u /* st_other: STO_CUDA_MANAGED, nvcc 13.0 */
#define UNPACKED_MAX        (UINT64_C(1) << 30)
#define ARCHITECTURE_FAMILY 10u /* code for 8.6 runs on 8.9, not on 9.0 */

static const char *const kept_sections[] = {".nv.global", ".nv.global.init", ".nv.constant3"};

static bool is_kept_section(const struct nb_elf *elf, uint64_t index)
{
    Elf64_Shdr section;
    size_t length;
    if (!nb_elf_section(elf, index, &section))
        return false;
    const char *name = nb_elf_string(elf->section_names, section.sh_name, &length);
    for (size_t i = 0; name != NULL && i < sizeof kept_sections / sizeof *kept_sections; i++)
        if (strcmp(name, kept_sections[i]) == 0)
            return true;
    return false;
}

static const char *visit_cubin(const struct nb_elf *elf, nb_image_global_visit *visit, void *context)
{
    Elf64_Shdr section;
    struct nb_elf_symbols symbols;
    if (elf->section_count == 0)
        return "its section table cannot be read";
    if (!nb_elf_find_section(elf, SHT_SYMTAB, &section))
        return "it has no symbol table";
    if (!nb_elf_symbols(elf, &section, &symbols))
        return "its symbol table lies outside the image";
    Elf64_Sym symbol;
    for (uint64_t at = 0; nb_view_read(symbols.table, at, &symbol, sizeof symbol); at += sizeof symbol) {
        size_t length;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF)
            continue;
        if (symbol.st_shndx == SHN_XINDEX)
            return "it has too many sections for its symbol table";
        if (!is_kept_section(elf, symbol.st_shndx))
            continue;
        const char *name = nb_elf_string(symbols.names, symbol.st_name, &length);
        if (name == NULL || length >= NB_GLOBAL_NAME_MAX)
            return "one of its symbols has an invalid name";
        if (length > 0)
            visit(name, (symbol.st_other & SYMBOL_MANAGED) != 0, context);
    }
    return NULL;
}

/* A cubin, an AMD code object or PTX. */
static const char *visit_code(struct nb_view code, nb_image_global_visit *visit, void *context)
{
    struct nb_elf elf;
    uint32_t magic = 0;
    if (!nb_view_read(code, 0, &magic, sizeof magic) || magic != NB_ELF_MAGIC)
        return nb_ptx_globals(code, visit, context);
    if (!nb_elf_open(code, &elf))
        return "its section table cannot be read";
    if (elf.header.e_machine == NB_EM_AMDGPU)
        return nb_code_object_globals(&elf, visit, context);
    return visit_cubin(&elf, visit, context);
}

/* The entries are for several targets; the driver knows which names belong to the code that it took. */
static const char *visit_bundle(struct nb_view image, nb_image_global_visit *visit, void *context)
{
    struct nb_codes codes;
    struct nb_bundle_entry entry;
    const char *problem = nb_codes_open(image, &codes);
    if (problem != NULL)
        return problem;
    while (nb_codes_next(&codes, &entry)) {
        const char *what = visit_code(entry.code, visit, context);
        problem = problem != NULL ? problem : what;
    }
    nb_codes_close(&codes);
    return problem;
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
        return "not enough memory to decompress it";
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

/* The driver prefers machine code to PTX, and a newer target to an older one. */
static bool is_preferred(const struct nb_fatbin_entry *entry, const struct nb_fatbin_entry *best)
{
    if (entry->kind != best->kind)
        return entry->kind == NB_FATBIN_ELF;
    return entry->architecture > best->architecture;
}

static bool is_like(const struct nb_fatbin_entry *entry, const struct nb_fatbin_entry *best)
{
    return entry->kind == best->kind && entry->architecture == best->architecture;
}

/* Compilers fill the end with zeros, if at all. A driver may find further entries in other bytes. */
static bool is_whole(const struct walk *walk)
{
    for (uint64_t at = walk->at; at < walk->image.bytes; at++)
        if (walk->image.start[at] != 0)
            return false;
    return true;
}

/* Two entries may be for the preferred target (sm_90 and sm_90a): visit both. With `others`, visit the
 * entries that a driver could take instead. */
static const char *visit_fatbin(struct nb_view image, uint32_t architecture, bool others,
                                nb_image_global_visit *visit, void *context)
{
    struct nb_fatbin_header header;
    if (!nb_view_read(image, 0, &header, sizeof header) || header.header_bytes < sizeof header)
        return "the fat binary is cut short";
    struct nb_fatbin_entry best = {.kind = 0};
    for (struct walk walk = {.image = image, .at = header.header_bytes}; next_entry(&walk);)
        if (runs_on(&walk.entry, architecture) && (best.kind == 0 || is_preferred(&walk.entry, &best)))
            best = walk.entry;
    if (best.kind == 0 && !others)
        return "the fat binary has neither machine code nor PTX for the device";
    const char *problem = NULL;
    struct walk walk = {.image = image, .at = header.header_bytes};
    while (next_entry(&walk)) {
        const bool is_taken = is_like(&walk.entry, &best);
        if (others ? !is_taken && (walk.entry.kind == NB_FATBIN_PTX || runs_on(&walk.entry, architecture))
                   : is_taken) {
            const char *what = visit_entry(&walk.entry, walk.payload, visit, context);
            problem = problem != NULL ? problem : what;
        }
    }
    if (others && problem == NULL && !is_whole(&walk))
        problem = "the fat binary has bytes behind the last entry that can be read";
    return problem;
}

static bool is_fatbin(struct nb_view view)
{
    uint32_t magic = 0;
    return nb_view_read(view, 0, &magic, sizeof magic) && magic == NB_FATBIN_MAGIC;
}

const char *nb_image_other_globals(const void *image, uint64_t bytes, uint32_t architecture,
                                   nb_image_global_visit *visit, void *context)
{
    const struct nb_view view = {image, bytes};
    return is_fatbin(view) ? visit_fatbin(view, architecture, true, visit, context) : NULL;
}

const char *nb_image_globals(const void *image, uint64_t bytes, uint32_t architecture,
                             nb_image_global_visit *visit, void *context)
{
    const struct nb_view view = {image, bytes};
    if (is_fatbin(view))
        return visit_fatbin(view, architecture, false, visit, context);
    if (nb_is_bundle(view))
        return visit_bundle(view, visit, context);
    return visit_code(view, visit, context);
}
