/* Globals of the modules that a region uses. */
#ifndef NEUTRINO_CUDA_CAPTURE_GLOBAL_H
#define NEUTRINO_CUDA_CAPTURE_GLOBAL_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/maps/binmap.h"
#include "core/process/call.h"
#include "core/process/component.h"

/* Write the variables of module element `module`, as they are now, before its first kernel
 * is launched in the region. `handle`: the module in the current context (a library's through
 * cuLibraryGetModule); `binary`: its image, whose bytes are kept. */
void nb_capture_globals_of(const struct nb_call *call, uint32_t module, const struct nb_binary *binary,
                           CUmodule handle) __attribute__((visibility("hidden")));

/* Does a global that the recording has stand at this address? If so, its element's index and how many bytes
 * into it the address is. */
bool nb_capture_global_kept(uint64_t address, uint32_t *global, uint64_t *delta)
    __attribute__((visibility("hidden")));

/* How many bytes of a variable that the recording has are there, from the address on; 0:
 * none is. */
uint64_t nb_capture_global_room(uint64_t address) __attribute__((visibility("hidden")));

/* The driver has unloaded this image. Where nb_region_is_open(). */
void nb_capture_globals_unloaded(const struct nb_call *call, const struct nb_binary *binary)
    __attribute__((visibility("hidden")));

/* Write the variables, as they were and as they are now, when the device is idle at the
 * region's end. */
CUresult nb_capture_globals_end(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_global_component __attribute__((visibility("hidden")));

#endif
