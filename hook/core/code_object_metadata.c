/* What a code object says of its kernels: a note with a MessagePack map (LLVM, "User Guide for AMDGPU
 * Backend", "Code Object V3 Metadata" and what follows it). */
#include "code_object_metadata.h"

#include "elf_view.h"
#include "layout.h"
#include "msgpack.h"

#define NOTE_METADATA  32 /* NT_AMDGPU_METADATA */
#define NOTE_ALIGNMENT 4

static const char note_owner[] = "AMDGPU";
static const char hidden_prefix[] = "hidden_"; /* .value_kind of what the compiler added */

/* The pairs of a map, behind its head. */
struct map {
    struct nb_view pairs;
    uint64_t count;
};

/* ---- the note ------------------------------------------------------------------------------------------ */

static bool find_in_notes(struct nb_view notes, struct nb_view *metadata)
{
    Elf64_Nhdr note;
    for (uint64_t at = 0; nb_view_read(notes, at, &note, sizeof note);) {
        const uint64_t name_at = at + sizeof note;
        const uint64_t at_metadata = name_at + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
        char owner[sizeof note_owner];
        if (note.n_type == NOTE_METADATA && note.n_namesz == sizeof owner &&
            nb_view_read(notes, name_at, owner, sizeof owner) && memcmp(owner, note_owner, sizeof owner) == 0)
            return nb_view_narrow(notes, at_metadata, note.n_descsz, metadata);
        at = at_metadata + ((note.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
    }
    return false;
}

/* As AMD's code object manager looks: in the segments first, for a file may have lost its sections. */
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

/* ---- the metadata -------------------------------------------------------------------------------------- */

static bool take_map(struct nb_view *from, struct map *map)
{
    struct nb_msgpack item;
    const bool taken = nb_msgpack_take(from, &item) && item.kind == NB_MSGPACK_MAP;
    *map = (struct map){*from, item.number};
    return taken;
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

static const char *read_arguments(const struct map *kernel, struct nb_code_object_kernel *facts,
                                  struct nb_parameter *layout)
{
    struct nb_msgpack arguments;
    struct nb_view rest;
    if (!get(kernel, ".args", &arguments, &rest))
        return NULL; /* a kernel without any may lack the key */
    if (arguments.kind != NB_MSGPACK_ARRAY)
        return "the kernel's arguments are no list";
    for (uint64_t i = 0; i < arguments.number; i++) {
        struct nb_view next = rest;
        struct map argument;
        struct nb_parameter parameter;
        if (!nb_msgpack_skip(&next) || !take_map(&rest, &argument))
            return "an argument of the kernel is no map";
        rest = next;
        if (is_hidden(&argument))
            continue;
        if (!get_number(&argument, ".offset", &parameter.offset) ||
            !get_number(&argument, ".size", &parameter.size) || parameter.offset > facts->segment_bytes ||
            parameter.size > facts->segment_bytes - parameter.offset ||
            facts->parameter_count == NB_LAYOUT_MAX)
            return "an argument of the kernel lies outside its segment";
        layout[facts->parameter_count++] = parameter;
    }
    return NULL;
}

const char *nb_code_object_metadata(struct nb_view code, const char *name,
                                    struct nb_code_object_kernel *facts, struct nb_parameter *layout)
{
    struct nb_elf elf;
    struct nb_view metadata;
    struct map kernel;
    if (!nb_elf_open(code, &elf) || elf.header.e_machine != NB_EM_AMDGPU)
        return "it is no code object for an AMD GPU";
    if (!find_metadata(&elf, &metadata))
        return "it has no metadata of version 3 or newer";
    if (!find_kernel(metadata, name, &kernel))
        return "its metadata does not have the kernel";
    if (!get_number(&kernel, ".kernarg_segment_size", &facts->segment_bytes))
        return "its metadata does not say how large the kernel's arguments are";
    get_number(&kernel, ".vgpr_count", &facts->vector_registers);
    get_number(&kernel, ".sgpr_count", &facts->scalar_registers);
    get_number(&kernel, ".group_segment_fixed_size", &facts->static_shared_bytes);
    get_number(&kernel, ".private_segment_fixed_size", &facts->local_bytes);
    get_number(&kernel, ".max_flat_workgroup_size", &facts->max_threads);
    return read_arguments(&kernel, facts, layout);
}
