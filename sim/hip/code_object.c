#include "hip/code.h"

#include <elf.h>
#include <string.h>

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

#define SECTION ".ptx"

/* `bytes` bytes at `offset`, or NULL if the image is shorter. */
static const unsigned char *within(struct hip_span image, uint64_t offset, uint64_t bytes)
{
    return offset <= image.bytes && bytes <= image.bytes - offset ? image.at + offset : NULL;
}

/* The first four bytes, compared one by one: an image may be a shorter text. */
bool hip_is_code_object(struct hip_span image)
{
    for (size_t i = 0; i < SELFMAG; i++)
        if (i >= image.bytes || image.at[i] != (unsigned char)ELFMAG[i])
            return false;
    return true;
}

static bool section_at(struct hip_span image, const Elf64_Ehdr *head, unsigned index, Elf64_Shdr *section)
{
    const unsigned char *table = within(image, head->e_shoff, (uint64_t)head->e_shnum * sizeof *section);
    if (table == NULL || index >= head->e_shnum)
        return false;
    memcpy(section, table + index * sizeof *section, sizeof *section);
    return true;
}

static bool is_named(struct hip_span names, const Elf64_Shdr *section)
{
    return section->sh_name <= names.bytes && sizeof SECTION <= names.bytes - section->sh_name &&
           memcmp(names.at + section->sh_name, SECTION, sizeof SECTION) == 0;
}

enum hip_code hip_code_object_text(struct hip_span image, struct hip_span *text, const char **reason)
{
    Elf64_Ehdr head;
    Elf64_Shdr section;
    *reason = "the ELF is not for an AMD GPU";
    if (within(image, 0, sizeof head) == NULL)
        return HIP_CODE_UNKNOWN;
    memcpy(&head, image.at, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        head.e_machine != EM_AMDGPU)
        return HIP_CODE_UNKNOWN;
    *reason = "a section of the code object does not fit into it";
    if (head.e_shnum != 0 && head.e_shentsize != sizeof section)
        return HIP_CODE_UNKNOWN;
    struct hip_span names = {NULL, 0};
    if (head.e_shnum != 0) {
        if (!section_at(image, &head, head.e_shstrndx, &section))
            return HIP_CODE_UNKNOWN;
        names = (struct hip_span){within(image, section.sh_offset, section.sh_size), section.sh_size};
        if (names.at == NULL)
            return HIP_CODE_UNKNOWN;
    }
    for (unsigned i = 0; i < head.e_shnum; i++) {
        if (!section_at(image, &head, i, &section))
            return HIP_CODE_UNKNOWN;
        if (!is_named(names, &section))
            continue;
        *text = (struct hip_span){within(image, section.sh_offset, section.sh_size), section.sh_size};
        return text->at != NULL ? HIP_CODE_TEXT : HIP_CODE_UNKNOWN;
    }
    *reason = "the code object is machine code for an AMD GPU, and this device runs PTX only";
    return HIP_CODE_NOTHING;
}
