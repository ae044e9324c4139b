/* The names of an image's variables: no driver lists them, it only finds one by its name. */
#ifndef NEUTRINO_IMAGE_GLOBALS_H
#define NEUTRINO_IMAGE_GLOBALS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image/view.h"

/* A longer name is no compiler's. */
#define NB_GLOBAL_NAME_MAX 8192u

/* `managed`: the host may use the variable too. A name may come twice. */
typedef void nb_image_global_visit(const char *name, bool managed, void *context);

/* Visit the variables in global and constant memory of a cubin, of PTX, of the fat binary's entries that a
 * device of this architecture (90 for 9.0) would be given, or of all code in an offload bundle. Names that
 * are the compiler's own come too: the driver says which it knows. Reads nothing outside the image. NULL, or
 * a constant text that says why there may be others. */
const char *nb_image_globals(const void *image, uint64_t bytes, uint32_t architecture,
                             nb_image_global_visit *visit, void *context)
    __attribute__((visibility("hidden")));

/* ptx_globals.c: the same for PTX. */
const char *nb_ptx_globals(struct nb_view text, nb_image_global_visit *visit, void *context)
    __attribute__((visibility("hidden")));

struct nb_elf;

/* code_object_globals.c: the same for an AMD code object. */
const char *nb_code_object_globals(const struct nb_elf *elf, nb_image_global_visit *visit, void *context)
    __attribute__((visibility("hidden")));

#endif
