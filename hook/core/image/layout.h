/* A kernel's parameter layout, read from its code: for drivers that cannot be asked (CUDA's before 12.4,
 * HIP's). code_object.h has the same for AMD's. */
#ifndef NEUTRINO_LAYOUT_H
#define NEUTRINO_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "core/wire/record.h"

/* More parameters than this fit in no 4 KiB buffer of single bytes; a larger count is a misread image. */
#define NB_LAYOUT_MAX 4096u

/* Fill `layout` (room for NB_LAYOUT_MAX) from section .nv.info.<name> of an ELF image. Returns the number of
 * parameters, or -1 if the image does not say. Reads nothing outside the image. */
int nb_layout_from_elf(const void *image, uint64_t bytes, const char *name, struct nb_parameter *layout)
    __attribute__((visibility("hidden")));

/* The same from the .param declarations of `.entry <name>` in PTX. */
int nb_layout_from_ptx(const void *text, uint64_t bytes, const char *name, struct nb_parameter *layout)
    __attribute__((visibility("hidden")));

#endif
