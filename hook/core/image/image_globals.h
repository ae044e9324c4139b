/* The names of an image's globals. No driver lists them; a driver only finds a global by its name. */
#ifndef NEUTRINO_IMAGE_GLOBALS_H
#define NEUTRINO_IMAGE_GLOBALS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image/view.h"

/* Sanity limit, longer than any compiler writes. */
#define NB_GLOBAL_NAME_MAX 8192u

/* `managed`: the host may also use the global. A name may come twice. */
typedef void nb_image_global_visit(const char *name, bool managed, void *context);

/* Visit the globals in global and constant memory of a cubin, of PTX, of the fat binary entries that a
 * device of this architecture (90 for 9.0) would use, or of all code in an offload bundle. The compiler's
 * own names are included; the driver tells which names it knows. Reads only inside the image. Returns
 * NULL, or a constant text that says why other globals may exist. */
const char *nb_image_globals(const void *image, uint64_t bytes, uint32_t architecture,
                             nb_image_global_visit *visit, void *context)
    __attribute__((visibility("hidden")));

/* The same for the other entries of a fat binary: PTX, and machine code that runs on the device. A driver
 * takes one of them if it rejects the entry that it would prefer. */
const char *nb_image_other_globals(const void *image, uint64_t bytes, uint32_t architecture,
                                   nb_image_global_visit *visit, void *context)
    __attribute__((visibility("hidden")));

/* The same for PTX (ptx_globals.c). */
const char *nb_ptx_globals(struct nb_view text, nb_image_global_visit *visit, void *context)
    __attribute__((visibility("hidden")));

struct nb_elf;

/* The same for an AMD code object (code_object_globals.c). */
const char *nb_code_object_globals(const struct nb_elf *elf, nb_image_global_visit *visit, void *context)
    __attribute__((visibility("hidden")));

#endif
