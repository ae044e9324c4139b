/* What hipcc puts code objects in: clang's offload bundles (clang, "Clang Offload Bundler"). A magic, a
 * count, then for each entry its offset, its size and its id. They may come compressed (compressed_bundle.h).
 */
#ifndef NEUTRINO_BUNDLE_H
#define NEUTRINO_BUNDLE_H

#include "core/image/view.h"

#define NB_BUNDLE_MAGIC       "__CLANG_OFFLOAD_BUNDLE__"
#define NB_BUNDLE_MAGIC_BYTES 24 /* it has no terminator */

struct nb_bundle_entry {
    struct nb_view id; /* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" */
    struct nb_view code;
};

struct nb_bundle_walk {
    struct nb_view bundle;
    uint64_t at, left; /* where the next entry is, and how many there are */
};

/* Is it a bundle, plain or compressed? */
bool nb_bundle_is(struct nb_view image) __attribute__((visibility("hidden")));

/* False if it is not plain, or has no sane count of entries. */
bool nb_bundle_begin(struct nb_view bundle, struct nb_bundle_walk *walk)
    __attribute__((visibility("hidden")));

/* False at the end; and if an entry is out of reach: there are entries left then. */
bool nb_bundle_next(struct nb_bundle_walk *walk, struct nb_bundle_entry *entry)
    __attribute__((visibility("hidden")));

/* The device code in an image: a bundle's entries, or the image itself. */
struct nb_codes {
    struct nb_bundle_walk walk;
    struct nb_view alone; /* no bytes: a bundle, or seen already */
    void *unpacked;       /* a compressed bundle's contents */
};

/* NULL, or a constant text that says why it cannot be read. To be closed if NULL. */
const char *nb_codes_open(struct nb_view image, struct nb_codes *codes) __attribute__((visibility("hidden")));

/* Skips what is for the host, and entries without code. Entries out of reach end it. */
bool nb_codes_next(struct nb_codes *codes, struct nb_bundle_entry *entry)
    __attribute__((visibility("hidden")));

void nb_codes_close(struct nb_codes *codes) __attribute__((visibility("hidden")));

#endif
