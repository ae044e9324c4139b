#include "core/image/layout.h"

#include "core/image/elf_view.h"

/* .nv.info is a list of {u8 format, u8 attribute, u16 value-or-size}, followed by `size` bytes if the
 * format is 4. KPARAM_INFO is {u32 index, u16 ordinal, u16 offset, u32}; the bits from 18 on of the last
 * word are the size. Checked on cubins of CUDA 13.0 from sm_75 to sm_100. */
#define FORMAT_SIZED          4
#define ATTRIBUTE_KPARAM_INFO 0x17

static const char section_prefix[] = ".nv.info.";

static bool find_info(struct nb_view image, const char *kernel, struct nb_view *found)
{
    struct nb_elf elf;
    Elf64_Shdr section;
    if (!nb_elf_open(image, &elf))
        return false;
    for (uint64_t i = 0; i < elf.section_count && nb_elf_section(&elf, i, &section); i++) {
        size_t length;
        const char *name = nb_elf_string(elf.section_names, section.sh_name, &length);
        if (name != NULL && strncmp(name, section_prefix, sizeof section_prefix - 1) == 0 &&
            strcmp(name + sizeof section_prefix - 1, kernel) == 0)
            return nb_view_narrow(image, section.sh_offset, section.sh_size, found);
    }
    return false;
}

int nb_layout_from_elf(const void *image, uint64_t bytes, const char *name, struct nb_parameter *layout)
{
    struct nb_view info;
    if (!find_info((struct nb_view){image, bytes}, name, &info))
        return -1;
    uint32_t count = 0;
    uint64_t parameters = 0;
    struct {
        uint8_t format, attribute;
        uint16_t size;
    } head;
    struct {
        uint32_t index;
        uint16_t ordinal, offset;
        uint32_t packed;
    } parameter;
    for (uint64_t at = 0; nb_view_read(info, at, &head, sizeof head); at += sizeof head) {
        if (head.format != FORMAT_SIZED)
            continue;
        if (head.attribute == ATTRIBUTE_KPARAM_INFO && head.size >= sizeof parameter &&
            nb_view_read(info, at + sizeof head, &parameter, sizeof parameter)) {
            if (parameter.ordinal >= NB_LAYOUT_MAX)
                return -1;
            layout[parameter.ordinal] = (struct nb_parameter){parameter.offset, parameter.packed >> 18};
            count = parameter.ordinal >= count ? parameter.ordinal + 1u : count;
            parameters++;
        }
        at += head.size;
    }
    return parameters == count ? (int)count : -1;
}
