/* The PTX that a program gave to the driver's linker, for the machine code that came out.
 *
 * A program may copy the product, and load it when the link state is gone, so a product is known by its
 * bytes. */
#ifndef NEUTRINO_LINKS_H
#define NEUTRINO_LINKS_H

#include <stdint.h>

#include "core/process/component.h"

/* A text in the session's image store. */
struct nb_link_input {
    const void *kept; /* NULL: unknown */
    uint64_t bytes;
};

/* A link state got a PTX text. With several, no text has the whole kernel, and the product has none. */
void nb_links_add(uint64_t state, const void *text, uint64_t bytes) __attribute__((visibility("hidden")));

/* A link state has made a product. */
void nb_links_complete(uint64_t state, const void *product, uint64_t bytes)
    __attribute__((visibility("hidden")));

void nb_links_destroy(uint64_t state) __attribute__((visibility("hidden")));

/* The PTX of an image that equals a product. */
struct nb_link_input nb_links_find(const void *image, uint64_t bytes) __attribute__((visibility("hidden")));

extern const struct nb_component nb_links_component __attribute__((visibility("hidden")));

#endif
