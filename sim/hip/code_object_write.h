/* Wraps PTX like the output of an AMD GPU's compiler: an ELF that lists kernels, arguments and globals as a
 * version 4 code object does, with the PTX in a section `.ptx`. */
#ifndef NEUTRINO_SIM_HIP_CODE_OBJECT_WRITE_H
#define NEUTRINO_SIM_HIP_CODE_OBJECT_WRITE_H

#include <stddef.h>

struct ptx_diagnostic;

/* The caller frees `*image`. Returns 0, or -1: with a `diagnostic` for PTX that the engine refuses, without
 * one if memory runs out. */
int hip_code_object(const char *ptx, size_t bytes, void **image, size_t *image_bytes,
                    struct ptx_diagnostic *diagnostic);

#endif
