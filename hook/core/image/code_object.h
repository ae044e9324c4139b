/* AMD's code objects, plain or in hipcc's bundles. */
#ifndef NEUTRINO_CODE_OBJECT_H
#define NEUTRINO_CODE_OBJECT_H

#include <stdint.h>

#include "core/wire/record.h"

/* Like nb_layout_from_elf, for a code object, an offload bundle (plain or compressed) or PTX. Skips
 * arguments that the compiler adds (hidden_*). Reads the first code in the image that has the kernel, for
 * any target: the host side of a kernel is compiled once, so all targets take the same arguments. Unpacks
 * a compressed bundle on every call. */
int nb_layout_from_code_object(const void *image, uint64_t bytes, const char *name,
                               struct nb_parameter *layout) __attribute__((visibility("hidden")));

#endif
