/* Code images of a region and how they were loaded. */
#ifndef NEUTRINO_CUDA_CAPTURE_MODULE_H
#define NEUTRINO_CUDA_CAPTURE_MODULE_H

#include <cuda.h>

#include <stdint.h>

#include "core/maps/binmap.h"
#include "core/process/call.h"
#include "core/process/component.h"

/* The index of the module element of a kernel's image (with the image and its variables),
 * written at its first use. `function` is the kernel's in the current context. NB_NOTHING, and a refusal
 * written, if the image is not known or not kept. */
uint32_t nb_capture_module(const struct nb_call *call, const struct nb_binary *binary, const char *kernel,
                           CUfunction function) __attribute__((visibility("hidden")));

/* The same for a module that is known by its handle in the current context. `whose` code it
 * is, for people. */
uint32_t nb_capture_module_at(const struct nb_call *call, const struct nb_binary *binary, const char *whose,
                              CUmodule handle) __attribute__((visibility("hidden")));

/* What the load of `handle` asked of the compiler. Where nb_region_wanted(). */
void nb_capture_load_options(uint64_t handle, unsigned int count, const CUjit_option *options,
                             void *const *values) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_module_component __attribute__((visibility("hidden")));

#endif
