/* Globals of the modules that a region uses. */
#ifndef NEUTRINO_CUDA_CAPTURE_GLOBAL_H
#define NEUTRINO_CUDA_CAPTURE_GLOBAL_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/maps/binmap.h"
#include "core/process/call.h"
#include "core/process/component.h"

/* Keep the current content of the globals of module element `module`, before the region launches its first
 * kernel. `handle` is the module in the current context (for a library, from cuLibraryGetModule). `binary`
 * is its image, whose bytes are kept. */
void nb_capture_add_globals(const struct nb_call *call, uint32_t module, const struct nb_binary *binary,
                            CUmodule handle) __attribute__((visibility("hidden")));

/* Does a captured global contain this address? If so, return its element's index and the offset of the
 * address. */
bool nb_capture_find_added_global(uint64_t address, uint32_t *global, uint64_t *delta)
    __attribute__((visibility("hidden")));

/* Bytes of a captured global from the address to its end; 0 if no captured global contains it. */
uint64_t nb_capture_bytes_of_global(uint64_t address) __attribute__((visibility("hidden")));

/* The driver has unloaded this image. Only while a region is open. */
void nb_capture_unload_globals(const struct nb_call *call, const struct nb_binary *binary)
    __attribute__((visibility("hidden")));

/* Write the globals' content before and after the region. Call at the region's end, when the device is
 * idle. */
CUresult nb_capture_write_globals(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_global_component __attribute__((visibility("hidden")));

#endif
