/* PTX as an AMD GPU's compiler would hand it out: an ELF that lists kernels, their arguments and variables as
 * a code object (version 4) does, and has the PTX in a section `.ptx`. */
#ifndef NEUTRINO_SIM_HIP_CODE_OBJECT_WRITE_H
#define NEUTRINO_SIM_HIP_CODE_OBJECT_WRITE_H

#include <stddef.h>

struct ptx_diagnostic;

/* `*image` is to be freed. Returns 0, or -1: with `diagnostic` where the engine does not take the text,
 * without where there is no memory. */
int hip_code_object(const char *ptx, size_t bytes, void **image, size_t *image_bytes,
                    struct ptx_diagnostic *diagnostic);

#endif
