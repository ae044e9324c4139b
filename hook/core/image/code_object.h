/* AMD's code objects, in whatever they come: hipcc's bundles too. */
#ifndef NEUTRINO_CODE_OBJECT_H
#define NEUTRINO_CODE_OBJECT_H

#include <stdint.h>

#include "core/wire/record.h"

/* The same as nb_layout_from_elf for a code object, an offload bundle (plain or compressed) or PTX. Arguments
 * that the compiler added (hidden_*) are none of the program's. The first code in the image that has the
 * kernel is asked, for whatever target it is: the host's side of a kernel is compiled once, so all take the
 * same. A compressed bundle is unpacked for each call. */
int nb_layout_from_code_object(const void *image, uint64_t bytes, const char *name,
                               struct nb_parameter *layout) __attribute__((visibility("hidden")));

#endif
