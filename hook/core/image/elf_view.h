/* Untrusted 64-bit ELF files (elf(5)), read within their bounds. */
#ifndef NEUTRINO_ELF_VIEW_H
#define NEUTRINO_ELF_VIEW_H

#include <elf.h>

#include "core/image/view.h"

#define NB_ELF_MAGIC 0x464c457fu
#define NB_EM_AMDGPU 224 /* glibc's elf.h has it since 2.38 */

struct nb_elf {
    struct nb_view image;
    Elf64_Ehdr header;
    uint64_t section_count; /* 0 if the section table cannot be read */
    struct nb_view section_names;
};

/* A symbol table and its names. */
struct nb_elf_symbols {
    struct nb_view table, names;
};

/* False if the image is not a 64-bit little-endian ELF file. */
bool nb_elf_open(struct nb_view image, struct nb_elf *elf) __attribute__((visibility("hidden")));

bool nb_elf_section(const struct nb_elf *elf, uint64_t index, Elf64_Shdr *section)
    __attribute__((visibility("hidden")));

/* Find the first section of this type (SHT_SYMTAB and so on). */
bool nb_elf_find_section(const struct nb_elf *elf, uint32_t type, Elf64_Shdr *section)
    __attribute__((visibility("hidden")));

/* Return the string at `offset` of a table, or NULL if the table ends before the string does. */
const char *nb_elf_string(struct nb_view table, uint64_t offset, size_t *length)
    __attribute__((visibility("hidden")));

/* False if the table or its names lie outside the image. */
bool nb_elf_symbols(const struct nb_elf *elf, const Elf64_Shdr *section, struct nb_elf_symbols *symbols)
    __attribute__((visibility("hidden")));

#endif
