/* Kernels of a region, and the parameters of their launches. */
#ifndef NEUTRINO_CUDA_CAPTURE_KERNEL_H
#define NEUTRINO_CUDA_CAPTURE_KERNEL_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* Return the index of a kernel element. At its first use, write the element with its module, image,
 * globals and current attributes. If the image or the parameter layout is unknown, write a refusal and
 * return NB_NOTHING. */
uint32_t nb_capture_write_kernel(const struct nb_call *call, CUfunction function)
    __attribute__((visibility("hidden")));

/* A launch's parameters as one buffer, in malloced memory. */
struct nb_capture_parameters {
    void *start;
    uint32_t bytes;
};
struct nb_capture_parameters nb_capture_copy_parameters(const struct nb_call *call, CUfunction function,
                                                        void **kernelParams, void **extra)
    __attribute__((visibility("hidden")));

/* Make the globals whose addresses are in the parameters part of the capture. Call it before the launch,
 * which may change them. */
void nb_capture_find_globals(struct nb_capture_parameters parameters) __attribute__((visibility("hidden")));

/* Check operation `operation` for addresses in its parameters: append a relocation for an address in a
 * module's global, and a refusal for an address in memory that no capture contains (foreign.h). */
void nb_capture_check_parameters(const struct nb_call *call, uint32_t operation, const void *parameters,
                                 uint32_t bytes) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_kernel_component __attribute__((visibility("hidden")));

#endif
