/* Globals of an AMD code object: its dynamic symbols, which the runtime finds by name. */
#include "core/image/elf_view.h"
#include "core/image/image_globals.h"

static const char descriptor_suffix[] = ".kd"; /* a kernel's descriptor is also an object */
static const char managed_suffix[] = ".managed";

/* A managed global has two symbols: a pointer of its name, and its initial content (clang 19). */
static void visit_name(const char *name, size_t length, nb_image_global_visit *visit, void *context)
{
    char plain[NB_GLOBAL_NAME_MAX];
    const size_t suffix = sizeof managed_suffix - 1;
    if (length <= suffix || strcmp(name + length - suffix, managed_suffix) != 0) {
        visit(name, false, context);
        return;
    }
    memcpy(plain, name, length - suffix);
    plain[length - suffix] = 0;
    visit(plain, true, context);
}

static bool is_descriptor(const char *name, size_t length)
{
    const size_t suffix = sizeof descriptor_suffix - 1;
    return length >= suffix && strcmp(name + length - suffix, descriptor_suffix) == 0;
}

static bool is_writable(const struct nb_elf *elf, uint16_t index)
{
    Elf64_Shdr section;
    return nb_elf_section(elf, index, &section) && (section.sh_flags & SHF_WRITE) != 0;
}

/* Does the object have a global that code may change and that the runtime cannot find by name? Without a
 * symbol table this is unknown. */
static bool has_hidden_global(const struct nb_elf *elf)
{
    Elf64_Shdr section;
    Elf64_Sym symbol;
    struct nb_elf_symbols symbols;
    if (!nb_elf_find_section(elf, SHT_SYMTAB, &section) || !nb_elf_symbols(elf, &section, &symbols))
        return false;
    for (uint64_t at = 0; nb_view_read(symbols.table, at, &symbol, sizeof symbol); at += sizeof symbol)
        if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && ELF64_ST_BIND(symbol.st_info) == STB_LOCAL &&
            is_writable(elf, symbol.st_shndx))
            return true;
    return false;
}

const char *nb_code_object_globals(const struct nb_elf *elf, nb_image_global_visit *visit, void *context)
{
    Elf64_Shdr section;
    Elf64_Sym symbol;
    struct nb_elf_symbols symbols;
    if (elf->section_count == 0)
        return "its section table cannot be read";
    if (!nb_elf_find_section(elf, SHT_DYNSYM, &section))
        return "it has no dynamic symbol table";
    if (!nb_elf_symbols(elf, &section, &symbols))
        return "its symbol table lies outside the image";
    for (uint64_t at = 0; nb_view_read(symbols.table, at, &symbol, sizeof symbol); at += sizeof symbol) {
        size_t length;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *name = nb_elf_string(symbols.names, symbol.st_name, &length);
        if (name == NULL || length >= NB_GLOBAL_NAME_MAX)
            return "one of its symbols has an invalid name";
        if (length > 0 && !is_descriptor(name, length))
            visit_name(name, length, visit, context);
    }
    return has_hidden_global(elf) ? "it has a static global, which HIP cannot find by name" : NULL;
}
