/* Globals that the program has looked up. */
#ifndef NEUTRINO_CUDA_CAPTURE_SYMBOL_H
#define NEUTRINO_CUDA_CAPTURE_SYMBOL_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* Does a module's global contain this address? If so, return its element's index and the offset of the
 * address. If the program has looked the global up, its module becomes part of the capture here, so call
 * this before or after an operation on it. Only while a region is open. */
bool nb_capture_find_global(uint64_t address, uint32_t *global, uint64_t *delta)
    __attribute__((visibility("hidden")));

/* The program has looked this global up. Inside a hook, if nb_capture_enabled(). */
void nb_capture_add_symbol(const struct nb_call *call, CUmodule module, const char *name)
    __attribute__((visibility("hidden")));

/* Does one global contain all of these bytes? */
bool nb_capture_is_in_global(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_symbol_component __attribute__((visibility("hidden")));

#endif
