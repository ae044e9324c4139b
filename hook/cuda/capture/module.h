/* Code images of a region and how they were loaded. */
#ifndef NEUTRINO_CUDA_CAPTURE_MODULE_H
#define NEUTRINO_CUDA_CAPTURE_MODULE_H

#include <cuda.h>

#include <stdint.h>

#include "core/maps/binmap.h"
#include "core/process/call.h"
#include "core/process/component.h"

/* Return the index of the module element of a kernel's image. At its first use, write the element with its
 * image and globals. `function` is the kernel in the current context. If the image is unknown or was not
 * kept, write a refusal and return NB_NOTHING. */
uint32_t nb_capture_write_module(const struct nb_call *call, const struct nb_binary *binary,
                                 const char *kernel, CUfunction function)
    __attribute__((visibility("hidden")));

/* The same for a module handle of the current context. `whose` names the code's owner in a refusal. */
uint32_t nb_capture_write_module_at(const struct nb_call *call, const struct nb_binary *binary,
                                    const char *whose, CUmodule handle) __attribute__((visibility("hidden")));

/* Keep the compiler options with which `handle` was loaded. If nb_capture_enabled(). */
void nb_capture_keep_load_options(uint64_t handle, unsigned int count, const CUjit_option *options,
                                  void *const *values) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_module_component __attribute__((visibility("hidden")));

#endif
