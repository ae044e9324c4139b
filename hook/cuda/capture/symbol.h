/* Globals that the program has looked up. */
#ifndef NEUTRINO_CUDA_CAPTURE_SYMBOL_H
#define NEUTRINO_CUDA_CAPTURE_SYMBOL_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* Does a module's variable stand at this address? If so, its element's index and how many
 * bytes into it the address is. The module of one that the program has looked up becomes part of the
 * recording here, so this may be called before an operation on it or after. Where nb_region_is_open(). */
bool nb_capture_global_find(uint64_t address, uint32_t *global, uint64_t *delta)
    __attribute__((visibility("hidden")));

/* The program knows where this variable is. Inside a hook, where nb_region_wanted(). */
void nb_capture_symbol(const struct nb_call *call, CUmodule module, const char *name)
    __attribute__((visibility("hidden")));

/* Does one variable hold all of these bytes? */
bool nb_capture_global_holds(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_symbol_component __attribute__((visibility("hidden")));

#endif
