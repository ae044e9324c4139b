/* The code image behind a handle.
 *
 * Every image that the driver accepts gets a new number. A handle that is reused after an unload leads to
 * the new image, and older records stay true. The bytes are copied to the session's image store, where the
 * supervisor hashes them. */
#ifndef NEUTRINO_BINMAP_H
#define NEUTRINO_BINMAP_H

#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"
#include "core/wire/record.h"

struct nb_binary {
    uint64_t number;  /* the image's number in this process */
    uint64_t handle;  /* the driver's handle when it was loaded */
    uint64_t context; /* context of the load; 0 for a library, which belongs to no context */
    const void *kept; /* the copy in the session's image store; NULL if it did not fit */
    uint64_t bytes;
    enum nb_image_format format;
    char origin[]; /* path of the library that contains the code */
};

/* The driver returned `handle` for `image`. `bytes` is the size if the caller knows it (a file, a link
 * product), else 0: the size is then read from the image's headers. Writes the image record to the calling
 * thread's ring. */
void nb_binmap_load(const struct nb_call *call, uint64_t handle, uint64_t context, const void *image,
                    uint64_t bytes) __attribute__((visibility("hidden")));

/* The same for a file that the driver read itself. */
void nb_binmap_load_file(const struct nb_call *call, uint64_t handle, uint64_t context, const char *path)
    __attribute__((visibility("hidden")));

/* `handle` is another name of the image behind `of` (a library's module). */
void nb_binmap_alias(uint64_t handle, uint64_t of) __attribute__((visibility("hidden")));

const struct nb_binary *nb_binmap_get(uint64_t handle) __attribute__((visibility("hidden")));

/* Forget an unloaded image, under all its handles. */
void nb_binmap_unload(uint64_t number) __attribute__((visibility("hidden")));

/* Forget every image that was loaded in this context. */
void nb_binmap_unload_context(uint64_t context) __attribute__((visibility("hidden")));

extern const struct nb_component nb_binmap_component __attribute__((visibility("hidden")));

#endif
