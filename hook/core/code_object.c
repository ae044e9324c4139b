#include "code_object.h"

#include <stdlib.h>

#include "bundle.h"
#include "code_object_metadata.h"
#include "elf_view.h"
#include "layout.h"
#include "target_id.h"

#define NONE_YET (-2) /* nb_target_fits says at least -1: any code is better than none */

static bool is_elf(struct nb_view code)
{
    uint32_t magic = 0;
    return nb_view_read(code, 0, &magic, sizeof magic) && magic == NB_ELF_MAGIC;
}

static const char *read_ptx(struct nb_view code, const char *name, struct nb_code_object_kernel *facts,
                            struct nb_parameter *layout)
{
    const int count = nb_layout_from_ptx(code.start, code.bytes, name, layout);
    if (count < 0)
        return "its text does not have the kernel";
    facts->parameter_count = (uint32_t)count;
    facts->segment_bytes = count > 0 ? layout[count - 1].offset + layout[count - 1].size : 0;
    return NULL;
}

static const char *read_kernel(struct nb_view code, const char *name, struct nb_code_object_kernel *facts,
                               struct nb_parameter *layout)
{
    *facts = (struct nb_code_object_kernel){0};
    return is_elf(code) ? nb_code_object_metadata(code, name, facts, layout)
                        : read_ptx(code, name, facts, layout);
}

/* A compressed bundle may be a hundred times what a device is given of it. */
static void keep_only(struct nb_codes *codes, struct nb_code_object *object)
{
    object->unpacked = codes->unpacked;
    if (object->unpacked == NULL)
        return;
    memmove(object->unpacked, object->code.start, object->code.bytes);
    void *smaller = realloc(object->unpacked, object->code.bytes);
    object->unpacked = smaller != NULL ? smaller : object->unpacked;
    object->code.start = object->unpacked;
}

const char *nb_code_object_open(const void *image, uint64_t bytes, const char *target,
                                struct nb_code_object *object)
{
    struct nb_codes codes;
    struct nb_bundle_entry entry;
    int best = NONE_YET;
    const char *problem = nb_codes_open((struct nb_view){image, bytes}, &codes);
    if (problem != NULL)
        return problem;
    while (nb_codes_next(&codes, &entry)) {
        const int fits = target != NULL ? nb_target_fits(entry.id, target) : -1;
        if (fits > best) {
            best = fits;
            object->code = entry.code;
        }
    }
    if (best == NONE_YET) {
        nb_codes_close(&codes);
        return "there is no code for a device in it";
    }
    keep_only(&codes, object);
    return NULL;
}

void nb_code_object_close(struct nb_code_object *object)
{
    free(object->unpacked);
    object->unpacked = NULL;
}

const char *nb_code_object_kernel(const struct nb_code_object *object, const char *name,
                                  struct nb_code_object_kernel *facts, struct nb_parameter *layout)
{
    return read_kernel(object->code, name, facts, layout);
}

int nb_layout_from_code_object(const void *image, uint64_t bytes, const char *name,
                               struct nb_parameter *layout)
{
    struct nb_codes codes;
    struct nb_bundle_entry entry;
    struct nb_code_object_kernel facts;
    int count = -1;
    if (nb_codes_open((struct nb_view){image, bytes}, &codes) != NULL)
        return -1;
    while (count < 0 && nb_codes_next(&codes, &entry))
        if (read_kernel(entry.code, name, &facts, layout) == NULL)
            count = (int)facts.parameter_count;
    nb_codes_close(&codes);
    return count;
}
