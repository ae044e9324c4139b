/* A kernel's parameter layout, read from its code, for drivers that do not report it (CUDA's before 12.4,
 * HIP's). code_object.h does the same for AMD. */
#ifndef NEUTRINO_LAYOUT_H
#define NEUTRINO_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "core/wire/record.h"

/* A 4 KiB buffer holds at most this many parameters of one byte. A larger count means a misread image. */
#define NB_LAYOUT_MAX 4096u

/* Fill `layout` (room for NB_LAYOUT_MAX) from section .nv.info.<name> of an ELF image. Returns the number
 * of parameters, or -1 if the image lacks the section. Reads only inside the image. */
int nb_layout_from_elf(const void *image, uint64_t bytes, const char *name, struct nb_parameter *layout)
    __attribute__((visibility("hidden")));

/* The same from the .param declarations of `.entry <name>` in PTX. */
int nb_layout_from_ptx(const void *text, uint64_t bytes, const char *name, struct nb_parameter *layout)
    __attribute__((visibility("hidden")));

#endif
