/* AMD's code objects, and what they come in: clang's offload bundles, plain and compressed.
 *
 * Formats: LLVM's "User Guide for AMDGPU Backend" (code object metadata), clang's "Clang Offload Bundler". */
#ifndef NEUTRINO_CODE_OBJECT_H
#define NEUTRINO_CODE_OBJECT_H

#include <stdint.h>

#include "record.h"
#include "view.h"

/* The code for one target, out of whatever image it came in. */
struct nb_code_object {
    struct nb_view code; /* an ELF or, where HIP runs on the CPU driver, PTX */
    void *unpacked;      /* a compressed bundle's contents, ours; else NULL */
};

/* What a code object says of a kernel. */
struct nb_code_object_kernel {
    uint32_t vector_registers;    /* .vgpr_count */
    uint32_t scalar_registers;    /* .sgpr_count */
    uint32_t static_shared_bytes; /* .group_segment_fixed_size: LDS */
    uint32_t local_bytes;         /* .private_segment_fixed_size: scratch */
    uint32_t max_threads;         /* .max_flat_workgroup_size */
    uint32_t segment_bytes;       /* .kernarg_segment_size: hidden arguments too */
    uint32_t parameter_count;     /* arguments that the program gives */
};

/* Find the code for a device in a code object, a bundle or a compressed bundle. `target` is what the device
 * calls itself (hipDeviceProp_t::gcnArchName, "gfx90a:sramecc+:xnack-"); the first code object is taken where
 * none is for it, or target is NULL. NULL, or a constant text that says why there is none. To be closed
 * if NULL; `image` must live until then. */
const char *nb_code_object_open(const void *image, uint64_t bytes, const char *target,
                                struct nb_code_object *object) __attribute__((visibility("hidden")));
void nb_code_object_close(struct nb_code_object *object) __attribute__((visibility("hidden")));

/* Fill `facts` and `layout` (room for NB_LAYOUT_MAX) for the kernel of this name, as hipModuleGetFunction
 * takes it. Arguments that the compiler added (hidden_*) are none of the program's. NULL, or a constant text
 * that says why not. */
const char *nb_code_object_kernel(const struct nb_code_object *object, const char *name,
                                  struct nb_code_object_kernel *facts, struct nb_parameter *layout)
    __attribute__((visibility("hidden")));

/* The same as nb_layout_from_elf, for any image that nb_code_object_open takes, and for PTX: of the first
 * code in it that has the kernel. A compressed bundle is unpacked for each call. */
int nb_layout_from_code_object(const void *image, uint64_t bytes, const char *name,
                               struct nb_parameter *layout) __attribute__((visibility("hidden")));

#endif
