/* The kernel behind a function handle.
 *
 * A handle is added when a program looks a kernel up. Its description is made once, at the first launch:
 * runtimes look up thousands of kernels that they never launch. */
#ifndef NEUTRINO_FUNCMAP_H
#define NEUTRINO_FUNCMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/handle_map.h"
#include "core/maps/binmap.h"
#include "core/process/component.h"
#include "core/ring/ring.h"
#include "core/wire/record.h"

enum nb_function_kind {
    NB_FUNCTION,        /* a function of a module */
    NB_FUNCTION_KERNEL, /* a kernel of a library, or a launch argument of unknown origin */
};

/* Facts of a kernel, from the vendor's driver or from the image. */
struct nb_kernel_facts {
    uint32_t registers;
    uint32_t static_shared_bytes;
    uint32_t local_bytes;
    uint32_t constant_bytes;
    uint32_t max_threads;
    uint32_t binary_version;
    uint32_t layout_source;
    uint32_t parameter_count;
    const struct nb_parameter *layout;
};

/* The part of a kernel's data that a launch needs. */
struct nb_description {
    uint64_t number; /* the kernel's number in this process */
    uint32_t parameter_bytes;
    uint32_t parameter_count;
    bool holes; /* some bytes of the buffer belong to no parameter */
    struct nb_kernel_facts facts;
    struct nb_parameter layout[]; /* facts.layout points here */
};

struct nb_function {
    uint64_t handle;
    const struct nb_binary *binary; /* NULL if unknown */
    enum nb_function_kind kind;
    _Atomic(const struct nb_description *) description; /* NULL until first launched */
    char name[];
};

/* `handle` is the kernel `name` of `binary`. A repeated lookup changes nothing; a handle that now means
 * another image becomes a new function. Returns the entry, or NULL if memory runs out. */
struct nb_function *nb_funcmap_set(uint64_t handle, enum nb_function_kind kind,
                                   const struct nb_binary *binary, const char *name)
    __attribute__((visibility("hidden")));

/* `handle` is the function of `kernel`, a library's kernel, in one context. */
void nb_funcmap_derive(uint64_t handle, uint64_t kernel) __attribute__((visibility("hidden")));

extern struct nb_handle_map nb_functions __attribute__((visibility("hidden")));

static inline struct nb_function *nb_funcmap_get(uint64_t handle)
{
    return nb_handle_map_get(&nb_functions, handle);
}

/* Write the kernel's record and publish its description. Returns NULL if the ring had no room; the next
 * launch tries again. If two threads describe one kernel, the second number stays unused. */
const struct nb_description *nb_funcmap_describe(struct nb_thread *thread, struct nb_function *function,
                                                 const struct nb_kernel_facts *facts)
    __attribute__((visibility("hidden")));

/* Forget every kernel of an unloaded image, or of every image of a destroyed context. */
void nb_funcmap_unload(uint64_t image) __attribute__((visibility("hidden")));
void nb_funcmap_unload_context(uint64_t context) __attribute__((visibility("hidden")));

extern const struct nb_component nb_funcmap_component __attribute__((visibility("hidden")));

#endif
