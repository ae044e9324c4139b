#include "core/image/bundle.h"

#include <stdlib.h>

#include "core/image/compressed_bundle.h"

#define ENTRIES_MAX 4096u
#define ID_MAX      4096u

static const char host_kind[] = "host-";

static bool is_plain(struct nb_view image)
{
    char start[NB_BUNDLE_MAGIC_BYTES];
    return nb_view_read(image, 0, start, sizeof start) && memcmp(start, NB_BUNDLE_MAGIC, sizeof start) == 0;
}

bool nb_is_bundle(struct nb_view image)
{
    return is_plain(image) || nb_is_compressed_bundle(image);
}

bool nb_bundle_begin(struct nb_view bundle, struct nb_bundle_walk *walk)
{
    *walk = (struct nb_bundle_walk){.bundle = bundle, .at = NB_BUNDLE_MAGIC_BYTES + sizeof walk->left};
    return is_plain(bundle) && nb_view_read(bundle, NB_BUNDLE_MAGIC_BYTES, &walk->left, sizeof walk->left) &&
           walk->left <= ENTRIES_MAX;
}

bool nb_bundle_next(struct nb_bundle_walk *walk, struct nb_bundle_entry *entry)
{
    uint64_t field[3]; /* offset, size, length of the id that follows */
    if (walk->left == 0 || !nb_view_read(walk->bundle, walk->at, field, sizeof field) || field[2] > ID_MAX ||
        field[0] > NB_IMAGE_MAX || field[1] > NB_IMAGE_MAX ||
        !nb_view_narrow(walk->bundle, walk->at + sizeof field, field[2], &entry->id) ||
        !nb_view_narrow(walk->bundle, field[0], field[1], &entry->code))
        return false;
    walk->at += sizeof field + field[2];
    walk->left--;
    return true;
}

const char *nb_codes_open(struct nb_view image, struct nb_codes *codes)
{
    *codes = (struct nb_codes){.alone = image};
    if (nb_is_compressed_bundle(image)) {
        const char *problem = nb_compressed_bundle_open(image, &codes->unpacked, &image);
        if (problem != NULL)
            return problem;
    } else if (!is_plain(image)) {
        return NULL;
    }
    codes->alone.bytes = 0;
    if (nb_bundle_begin(image, &codes->walk))
        return NULL;
    nb_codes_close(codes);
    return "the offload bundle has an implausible number of entries";
}

bool nb_codes_next(struct nb_codes *codes, struct nb_bundle_entry *entry)
{
    *entry = (struct nb_bundle_entry){.code = codes->alone};
    codes->alone.bytes = 0;
    if (entry->code.bytes != 0)
        return true;
    while (nb_bundle_next(&codes->walk, entry)) {
        const size_t host = sizeof host_kind - 1;
        const bool is_host = entry->id.bytes >= host && memcmp(entry->id.start, host_kind, host) == 0;
        if (!is_host && entry->code.bytes != 0)
            return true;
    }
    return false;
}

void nb_codes_close(struct nb_codes *codes)
{
    free(codes->unpacked);
    codes->unpacked = NULL;
}
