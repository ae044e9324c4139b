/* The size of a code image, read from its own headers: drivers take an address and no size.
 *
 * Sources of the formats: output of nvcc 13.0, elf(5), and clang's OffloadBundler documentation. */
#ifndef NEUTRINO_IMAGE_H
#define NEUTRINO_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "core/wire/record.h"

struct nb_extent {
    const void *start; /* start of the bytes; a wrapper points elsewhere */
    uint64_t bytes;    /* 0 if unknown */
    enum nb_image_format format;
    char problem[96]; /* why the size is unknown, with the magic number; else empty */
};

/* Measure the image at `image`. At most `limit` bytes may be read (SIZE_MAX if only the driver knows the
 * size). With `follow`, follow a wrapper's pointer; `limit` also bounds its target. */
struct nb_extent nb_image_measure(const void *image, size_t limit, int follow)
    __attribute__((visibility("hidden")));

/* Return the cubin inside: the image itself if it is a cubin, else the first uncompressed ELF entry of a
 * fatbin for the newest architecture. `start` is NULL if the image has no cubin. */
struct nb_extent nb_image_elf(const void *image, uint64_t bytes) __attribute__((visibility("hidden")));

#endif
