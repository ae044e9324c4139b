/* Offload bundles, in which hipcc packs code objects (clang, "Clang Offload Bundler"): a magic, a count,
 * then the offset, size and id of each entry. Bundles may be compressed (compressed_bundle.h). */
#ifndef NEUTRINO_BUNDLE_H
#define NEUTRINO_BUNDLE_H

#include "core/image/view.h"

#define NB_BUNDLE_MAGIC       "__CLANG_OFFLOAD_BUNDLE__"
#define NB_BUNDLE_MAGIC_BYTES 24 /* without a terminator */

struct nb_bundle_entry {
    struct nb_view id; /* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" */
    struct nb_view code;
};

struct nb_bundle_walk {
    struct nb_view bundle;
    uint64_t at, left; /* position of the next entry, number of entries left */
};

/* Is the image a bundle, plain or compressed? */
bool nb_is_bundle(struct nb_view image) __attribute__((visibility("hidden")));

/* False if the bundle is not plain, or if its entry count is implausible. */
bool nb_bundle_begin(struct nb_view bundle, struct nb_bundle_walk *walk)
    __attribute__((visibility("hidden")));

/* False at the end, or if an entry is out of reach; then `left` is not 0. */
bool nb_bundle_next(struct nb_bundle_walk *walk, struct nb_bundle_entry *entry)
    __attribute__((visibility("hidden")));

/* Iterates over the device code in an image: the entries of a bundle, or the image itself. */
struct nb_codes {
    struct nb_bundle_walk walk;
    struct nb_view alone; /* empty for a bundle, or once visited */
    void *unpacked;       /* content of a compressed bundle */
};

/* Returns NULL, or a constant text that says why the image cannot be read. Call nb_codes_close after NULL. */
const char *nb_codes_open(struct nb_view image, struct nb_codes *codes) __attribute__((visibility("hidden")));

/* Skips host entries and entries without code. Stops at an entry out of reach. */
bool nb_codes_next(struct nb_codes *codes, struct nb_bundle_entry *entry)
    __attribute__((visibility("hidden")));

void nb_codes_close(struct nb_codes *codes) __attribute__((visibility("hidden")));

#endif
