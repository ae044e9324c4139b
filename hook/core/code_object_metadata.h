/* The part of code_object.h that reads an ELF file. */
#ifndef NEUTRINO_CODE_OBJECT_METADATA_H
#define NEUTRINO_CODE_OBJECT_METADATA_H

#include "code_object.h"

/* As nb_code_object_kernel; `facts` are zeros before. */
const char *nb_code_object_metadata(struct nb_view code, const char *name,
                                    struct nb_code_object_kernel *facts, struct nb_parameter *layout)
    __attribute__((visibility("hidden")));

#endif
