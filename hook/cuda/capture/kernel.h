/* Kernels of a region, and the parameters of their launches. */
#ifndef NEUTRINO_CUDA_CAPTURE_KERNEL_H
#define NEUTRINO_CUDA_CAPTURE_KERNEL_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* The index of a kernel element (with its module, image and variables), written at its
 * first use with the attributes it now has. NB_NOTHING, and a refusal written, if its image or layout is not
 * known. */
uint32_t nb_capture_kernel(const struct nb_call *call, CUfunction function)
    __attribute__((visibility("hidden")));

/* A launch's parameters as the kernel's buffer, in malloced memory, with its size. */
struct nb_capture_parameters {
    void *start;
    uint32_t bytes;
};
struct nb_capture_parameters nb_capture_parameters(const struct nb_call *call, CUfunction function,
                                                   void **kernelParams, void **extra)
    __attribute__((visibility("hidden")));

/* Relocations of, and refusals for, addresses found in the parameters of operation
 * `operation`: into a module's variable, into memory that no capture holds (foreign.h). */
void nb_capture_check_parameters(const struct nb_call *call, uint32_t operation, const void *parameters,
                                 uint32_t bytes) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_kernel_component __attribute__((visibility("hidden")));

#endif
