/* Reads kernel parameters from a code object: a note with a MessagePack map (LLVM, "User Guide for AMDGPU
 * Backend", "Code Object V3 Metadata" and the sections after it). */
#include "core/image/code_object.h"

#include "core/image/bundle.h"
#include "core/image/elf_view.h"
#include "core/image/layout.h"
#include "core/image/msgpack.h"

#define NOTE_METADATA  32 /* NT_AMDGPU_METADATA */
#define NOTE_ALIGNMENT UINT64_C(4)

static const char note_owner[] = "AMDGPU";
static const char hidden_prefix[] = "hidden_"; /* .value_kind of arguments that the compiler adds */

/* The pairs of a map, after its head. */
struct map {
    struct nb_view pairs;
    uint64_t count;
};

static bool find_in_notes(struct nb_view notes, struct nb_view *metadata)
{
    Elf64_Nhdr note;
    for (uint64_t at = 0; nb_view_read(notes, at, &note, sizeof note);) {
        const uint64_t name_at = at + sizeof note;
        const uint64_t at_metadata = name_at + ((note.n_namesz + NOTE_ALIGNMENT - 1) & ~(NOTE_ALIGNMENT - 1));
        char owner[sizeof note_owner];
        if (note.n_type == NOTE_METADATA && note.n_namesz == sizeof owner &&
            nb_view_read(notes, name_at, owner, sizeof owner) && memcmp(owner, note_owner, sizeof owner) == 0)
            return nb_view_narrow(notes, at_metadata, note.n_descsz, metadata);
        at = at_metadata + ((note.n_descsz + NOTE_ALIGNMENT - 1) & ~(NOTE_ALIGNMENT - 1));
    }
    return false;
}

/* Search the segments first, as AMD's code object manager does: a file may have lost its sections. */
static bool find_metadata(const struct nb_elf *elf, struct nb_view *metadata)
{
    struct nb_view notes;
    for (uint64_t i = 0; i < elf->header.e_phnum && elf->header.e_phentsize >= sizeof(Elf64_Phdr); i++) {
        Elf64_Phdr segment;
        if (elf->header.e_phoff > elf->image.bytes ||
            !nb_view_read(elf->image, elf->header.e_phoff + i * elf->header.e_phentsize, &segment,
                          sizeof segment))
            break;
        if (segment.p_type == PT_NOTE &&
            nb_view_narrow(elf->image, segment.p_offset, segment.p_filesz, &notes) &&
            find_in_notes(notes, metadata))
            return true;
    }
    for (uint64_t i = 0; i < elf->section_count; i++) {
        Elf64_Shdr section;
        if (nb_elf_section(elf, i, &section) && section.sh_type == SHT_NOTE &&
            nb_view_narrow(elf->image, section.sh_offset, section.sh_size, &notes) &&
            find_in_notes(notes, metadata))
            return true;
    }
    return false;
}

static bool take_map(struct nb_view *from, struct map *map)
{
    struct nb_msgpack item;
    const bool is_map = nb_msgpack_take(from, &item) && item.kind == NB_MSGPACK_MAP;
    *map = (struct map){*from, item.number};
    return is_map;
}

static bool get(const struct map *map, const char *key, struct nb_msgpack *item, struct nb_view *rest)
{
    return nb_msgpack_find(map->pairs, map->count, key, rest) && nb_msgpack_take(rest, item);
}

static bool get_number(const struct map *map, const char *key, uint32_t *number)
{
    struct nb_msgpack item;
    struct nb_view rest;
    if (!get(map, key, &item, &rest) || item.kind != NB_MSGPACK_NUMBER || item.number > UINT32_MAX)
        return false;
    *number = (uint32_t)item.number;
    return true;
}

static bool find_kernel(struct nb_view metadata, const char *name, struct map *kernel)
{
    struct map all;
    struct nb_msgpack kernels, found;
    struct nb_view rest, unused;
    if (!take_map(&metadata, &all) || !get(&all, "amdhsa.kernels", &kernels, &rest) ||
        kernels.kind != NB_MSGPACK_ARRAY)
        return false;
    for (uint64_t i = 0; i < kernels.number; i++) {
        struct nb_view next = rest;
        if (take_map(&rest, kernel) && get(kernel, ".name", &found, &unused) && nb_msgpack_is(&found, name))
            return true;
        if (!nb_msgpack_skip(&next))
            return false;
        rest = next;
    }
    return false;
}

static bool is_hidden(const struct map *argument)
{
    struct nb_msgpack kind;
    struct nb_view unused;
    const size_t prefix = sizeof hidden_prefix - 1;
    return get(argument, ".value_kind", &kind, &unused) && kind.kind == NB_MSGPACK_TEXT &&
           kind.text.bytes >= prefix && memcmp(kind.text.start, hidden_prefix, prefix) == 0;
}

/* Copy one argument to `layout` if the program passes it. False if the argument is malformed. */
static bool read_argument(const struct map *argument, uint32_t segment_bytes, struct nb_parameter *layout,
                          uint32_t *count)
{
    struct nb_parameter parameter;
    if (is_hidden(argument))
        return true;
    if (!get_number(argument, ".offset", &parameter.offset) ||
        !get_number(argument, ".size", &parameter.size) || parameter.offset > segment_bytes ||
        parameter.size > segment_bytes - parameter.offset || *count == NB_LAYOUT_MAX)
        return false;
    layout[(*count)++] = parameter;
    return true;
}

static int read_arguments(const struct map *kernel, struct nb_parameter *layout)
{
    struct nb_msgpack arguments;
    struct nb_view rest;
    uint32_t segment_bytes, count = 0;
    if (!get_number(kernel, ".kernarg_segment_size", &segment_bytes))
        return -1;
    if (!get(kernel, ".args", &arguments, &rest))
        return 0; /* a kernel without arguments may lack the key */
    if (arguments.kind != NB_MSGPACK_ARRAY)
        return -1;
    for (uint64_t i = 0; i < arguments.number; i++) {
        struct nb_view next = rest;
        struct map argument;
        if (!nb_msgpack_skip(&next) || !take_map(&rest, &argument) ||
            !read_argument(&argument, segment_bytes, layout, &count))
            return -1;
        rest = next;
    }
    return (int)count;
}

/* Reads an AMD code object, or PTX where HIP runs on the CPU driver. */
static int read_layout(struct nb_view code, const char *name, struct nb_parameter *layout)
{
    struct nb_elf elf;
    struct nb_view metadata;
    struct map kernel;
    if (!nb_elf_open(code, &elf))
        return nb_layout_from_ptx(code.start, code.bytes, name, layout);
    return elf.header.e_machine == NB_EM_AMDGPU && find_metadata(&elf, &metadata) &&
                   find_kernel(metadata, name, &kernel)
               ? read_arguments(&kernel, layout)
               : -1;
}

int nb_layout_from_code_object(const void *image, uint64_t bytes, const char *name,
                               struct nb_parameter *layout)
{
    struct nb_codes codes;
    struct nb_bundle_entry entry;
    int count = -1;
    if (nb_codes_open((struct nb_view){image, bytes}, &codes) != NULL)
        return -1;
    while (count < 0 && nb_codes_next(&codes, &entry))
        count = read_layout(entry.code, name, layout);
    nb_codes_close(&codes);
    return count;
}
