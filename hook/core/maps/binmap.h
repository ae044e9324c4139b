/* Which code image stands behind a handle.
 *
 * Every image that the driver accepts gets a number of its own, so a handle that is reused after an unload
 * leads to the new image, and what was said of the old one stays true. The bytes themselves are copied to
 * the session's image store, where the supervisor hashes them. */
#ifndef NEUTRINO_BINMAP_H
#define NEUTRINO_BINMAP_H

#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"
#include "core/wire/record.h"

struct nb_binary {
    uint64_t number;  /* the image's number in this process */
    uint64_t handle;  /* what the driver called it when it was loaded */
    uint64_t context; /* context it was loaded in; 0 for a library, which has none */
    const void *kept; /* our copy, in the session's image store; NULL if it did not fit */
    uint64_t bytes;
    enum nb_image_format format;
    char origin[]; /* path of the object whose code it is */
};

/* The driver gave `handle` for `image`. `bytes` is its size where the caller knows (a file, a link product),
 * else 0: it is then told from the headers. Writes the image record to the calling thread's ring. */
void nb_binmap_load(const struct nb_call *call, uint64_t handle, uint64_t context, const void *image,
                    uint64_t bytes) __attribute__((visibility("hidden")));

/* The same for a file that the driver read itself. */
void nb_binmap_load_file(const struct nb_call *call, uint64_t handle, uint64_t context, const char *path)
    __attribute__((visibility("hidden")));

/* `handle` is another name of what `of` names (a library's module). */
void nb_binmap_alias(uint64_t handle, uint64_t of) __attribute__((visibility("hidden")));

const struct nb_binary *nb_binmap_get(uint64_t handle) __attribute__((visibility("hidden")));

/* The image is gone, under all its handles. */
void nb_binmap_unload(uint64_t number) __attribute__((visibility("hidden")));

/* Every image that was loaded in this context is gone. */
void nb_binmap_unload_context(uint64_t context) __attribute__((visibility("hidden")));

extern const struct nb_component nb_binmap_component __attribute__((visibility("hidden")));

#endif
