#include "core/image/elf_view.h"

bool nb_elf_section(const struct nb_elf *elf, uint64_t index, Elf64_Shdr *section)
{
    return index < elf->section_count &&
           nb_view_read(elf->image, elf->header.e_shoff + index * elf->header.e_shentsize, section,
                        sizeof *section);
}

bool nb_elf_open(struct nb_view image, struct nb_elf *elf)
{
    Elf64_Shdr section;
    *elf = (struct nb_elf){.image = image, .section_count = 1};
    if (!nb_view_read(image, 0, &elf->header, sizeof elf->header) ||
        memcmp(elf->header.e_ident, ELFMAG, SELFMAG) != 0 || elf->header.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf->header.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    if (elf->header.e_shentsize < sizeof section || elf->header.e_shoff == 0 ||
        elf->header.e_shoff > image.bytes || !nb_elf_section(elf, 0, &section)) {
        elf->section_count = 0;
        return true;
    }
    /* Section 0 stores numbers that do not fit the header's fields (elf(5), e_shnum and e_shstrndx). */
    elf->section_count = elf->header.e_shnum != 0 ? elf->header.e_shnum : section.sh_size;
    const uint64_t names =
        elf->header.e_shstrndx != SHN_XINDEX ? elf->header.e_shstrndx : (uint64_t)section.sh_link;
    if (elf->section_count > image.bytes / elf->header.e_shentsize || !nb_elf_section(elf, names, &section) ||
        !nb_view_narrow(image, section.sh_offset, section.sh_size, &elf->section_names))
        elf->section_count = 0;
    return true;
}

bool nb_elf_find_section(const struct nb_elf *elf, uint32_t type, Elf64_Shdr *section)
{
    for (uint64_t i = 0; i < elf->section_count; i++)
        if (nb_elf_section(elf, i, section) && section->sh_type == type)
            return true;
    return false;
}

const char *nb_elf_string(struct nb_view table, uint64_t offset, size_t *length)
{
    if (offset >= table.bytes)
        return NULL;
    *length = strnlen((const char *)table.start + offset, table.bytes - offset);
    return *length < table.bytes - offset ? (const char *)table.start + offset : NULL;
}

bool nb_elf_symbols(const struct nb_elf *elf, const Elf64_Shdr *section, struct nb_elf_symbols *symbols)
{
    Elf64_Shdr names;
    return nb_view_narrow(elf->image, section->sh_offset, section->sh_size, &symbols->table) &&
           nb_elf_section(elf, section->sh_link, &names) &&
           nb_view_narrow(elf->image, names.sh_offset, names.sh_size, &symbols->names);
}
