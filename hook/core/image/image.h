/* How long a code image is, told from its own headers: drivers take an address and no size.
 *
 * Formats and their sources: shared notes, interposition.md, section 4 (checked there on nvcc 13.0 output),
 * elf(5), clang's OffloadBundler documentation. */
#ifndef NEUTRINO_IMAGE_H
#define NEUTRINO_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "core/wire/record.h"

struct nb_extent {
    const void *start; /* where the bytes begin: a wrapper's is elsewhere */
    uint64_t bytes;    /* 0 if unknown */
    enum nb_image_format format;
    char problem[96]; /* why the size is unknown, naming the magic number; else empty */
};

/* Measure the image at `image`, of which `limit` bytes may be read (SIZE_MAX where only the driver knows).
 * A wrapper's pointer is followed if `follow` is set; what it points to is bounded by `limit` too. */
struct nb_extent nb_image_measure(const void *image, size_t limit, int follow)
    __attribute__((visibility("hidden")));

/* The cubin inside: the image itself if it is one, else the first uncompressed ELF of a fatbin for the
 * newest architecture; start NULL if there is none. */
struct nb_extent nb_image_elf(const void *image, uint64_t bytes) __attribute__((visibility("hidden")));

#endif
