#include "hip/code_object_write.h"

#include <elf.h>

#include "hip/byte_buffer.h"
#include "hip/code_object_note.h"
#include "ptx/ptx.h"

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif
#define ELFOSABI_AMDGPU_HSA     64
#define ELFABIVERSION_AMDGPU_V4 2
#define DESCRIPTOR_BYTES        64
#define S_ENDPGM                0xbf810000u

enum { NONE, NOTE, SYMBOLS, STRINGS, DESCRIPTORS, CODE, DATA, PTX, NAMES, SECTIONS };

struct object {
    struct byte_buffer parts[SECTIONS];
    uint64_t at[SECTIONS];
};

static const struct {
    const char *name;
    uint32_t type, link;
    uint64_t flags, align, entry;
} sections[SECTIONS] = {
    [NONE] = {"", SHT_NULL, 0, 0, 0, 0},
    [NOTE] = {".note", SHT_NOTE, 0, SHF_ALLOC, 4, 0},
    [SYMBOLS] = {".dynsym", SHT_DYNSYM, STRINGS, SHF_ALLOC, 8, sizeof(Elf64_Sym)},
    [STRINGS] = {".dynstr", SHT_STRTAB, 0, SHF_ALLOC, 1, 0},
    [DESCRIPTORS] = {".rodata", SHT_PROGBITS, 0, SHF_ALLOC, 64, 0},
    [CODE] = {".text", SHT_PROGBITS, 0, SHF_ALLOC | SHF_EXECINSTR, 256, 0},
    [DATA] = {".data", SHT_PROGBITS, 0, SHF_ALLOC | SHF_WRITE, 16, 0},
    [PTX] = {".ptx", SHT_PROGBITS, 0, 0, 1, 0},
    [NAMES] = {".shstrtab", SHT_STRTAB, 0, 0, 1, 0},
};

/* Symbol values are offsets in their sections until the sections have addresses. */
static void symbol(struct object *object, const char *name, const char *suffix, unsigned char type,
                   uint16_t section, uint64_t value, uint64_t bytes)
{
    const Elf64_Sym entry = {.st_name = (uint32_t)object->parts[STRINGS].size,
                             .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                             .st_other = STV_PROTECTED,
                             .st_shndx = section,
                             .st_value = value,
                             .st_size = bytes};
    byte_buffer_add(&object->parts[STRINGS], name, strlen(name));
    byte_buffer_text(&object->parts[STRINGS], suffix);
    byte_buffer_add(&object->parts[SYMBOLS], &entry, sizeof entry);
}

static void add_code(struct object *object, const struct ptx_module *module)
{
    static const uint32_t end = S_ENDPGM;
    byte_buffer_add(&object->parts[SYMBOLS], NULL, sizeof(Elf64_Sym));
    byte_buffer_text(&object->parts[STRINGS], "");
    for (size_t i = 0; i < ptx_module_kernel_count(module); i++) {
        const char *const name = ptx_kernel_name(ptx_module_kernel(module, i));
        byte_buffer_align(&object->parts[CODE], 256);
        symbol(object, name, "", STT_FUNC, CODE, object->parts[CODE].size, sizeof end);
        symbol(object, name, ".kd", STT_OBJECT, DESCRIPTORS, object->parts[DESCRIPTORS].size,
               DESCRIPTOR_BYTES);
        byte_buffer_add(&object->parts[CODE], &end, sizeof end);
        byte_buffer_add(&object->parts[DESCRIPTORS], NULL, DESCRIPTOR_BYTES);
    }
    for (size_t i = 0; i < ptx_module_global_count(module); i++) {
        const struct ptx_variable *const global = ptx_module_global(module, i);
        byte_buffer_align(&object->parts[DATA], 16);
        symbol(object, ptx_variable_name(global), "", STT_OBJECT, DATA, object->parts[DATA].size,
               ptx_variable_bytes(global));
        byte_buffer_add(&object->parts[DATA], NULL, ptx_variable_bytes(global));
    }
}

/* Addresses are offsets in the file. */
static uint64_t place(struct object *object)
{
    uint64_t end = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
    for (size_t i = NOTE; i < SECTIONS; i++) {
        end = (end + sections[i].align - 1) / sections[i].align * sections[i].align;
        object->at[i] = end;
        end += object->parts[i].size;
    }
    Elf64_Sym *const symbols = (Elf64_Sym *)(void *)object->parts[SYMBOLS].data;
    for (size_t i = 1; i < object->parts[SYMBOLS].size / sizeof *symbols; i++)
        symbols[i].st_value += object->at[symbols[i].st_shndx];
    return (end + 7) & ~UINT64_C(7);
}

static void write_headers(const struct object *object, uint64_t end, unsigned char *image)
{
    const Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                                           EV_CURRENT, ELFOSABI_AMDGPU_HSA, ELFABIVERSION_AMDGPU_V4},
                               .e_type = ET_DYN,
                               .e_machine = EM_AMDGPU,
                               .e_version = EV_CURRENT,
                               .e_phoff = sizeof header,
                               .e_shoff = end,
                               .e_ehsize = sizeof header,
                               .e_phentsize = sizeof(Elf64_Phdr),
                               .e_phnum = 2,
                               .e_shentsize = sizeof(Elf64_Shdr),
                               .e_shnum = SECTIONS,
                               .e_shstrndx = NAMES};
    const uint64_t note = object->at[NOTE], note_bytes = object->parts[NOTE].size;
    const Elf64_Phdr segments[] = {{PT_LOAD, PF_R | PF_X, 0, 0, 0, end, end, 4096},
                                   {PT_NOTE, PF_R, note, note, note, note_bytes, note_bytes, 4}};
    memcpy(image, &header, sizeof header);
    memcpy(image + sizeof header, segments, sizeof segments);
    uint32_t name = 0;
    for (size_t i = 0; i < SECTIONS; i++) {
        const Elf64_Shdr section = {.sh_name = name,
                                    .sh_type = sections[i].type,
                                    .sh_flags = sections[i].flags,
                                    .sh_addr = (sections[i].flags & SHF_ALLOC) != 0 ? object->at[i] : 0,
                                    .sh_offset = object->at[i],
                                    .sh_size = object->parts[i].size,
                                    .sh_link = sections[i].link,
                                    .sh_info = sections[i].entry != 0 ? 1 : 0,
                                    .sh_addralign = sections[i].align,
                                    .sh_entsize = sections[i].entry};
        memcpy(image + end + i * sizeof section, &section, sizeof section);
        name += (uint32_t)strlen(sections[i].name) + 1;
    }
}

static int assemble(struct object *object, void **image, size_t *image_bytes)
{
    for (size_t i = 0; i < SECTIONS; i++)
        byte_buffer_text(&object->parts[NAMES], sections[i].name);
    for (size_t i = 0; i < SECTIONS; i++) {
        if (object->parts[i].failed)
            return -1;
    }
    const uint64_t end = place(object);
    *image_bytes = end + SECTIONS * sizeof(Elf64_Shdr);
    unsigned char *const written = calloc(1, *image_bytes);
    if (written == NULL)
        return -1;
    for (size_t i = NOTE; i < SECTIONS; i++) {
        if (object->parts[i].size != 0)
            memcpy(written + object->at[i], object->parts[i].data, object->parts[i].size);
    }
    write_headers(object, end, written);
    *image = written;
    return 0;
}

int hip_code_object(const char *ptx, size_t bytes, void **image, size_t *image_bytes,
                    struct ptx_diagnostic *diagnostic)
{
    struct ptx_module *module;
    if (ptx_module_parse(ptx, bytes, &module, diagnostic) != 0)
        return -1;
    struct object object = {0};
    hip_code_object_note(module, &object.parts[NOTE]);
    add_code(&object, module);
    byte_buffer_add(&object.parts[PTX], ptx, bytes);
    ptx_module_free(module);
    const int result = assemble(&object, image, image_bytes);
    for (size_t i = 0; i < SECTIONS; i++)
        free(object.parts[i].data);
    return result;
}
