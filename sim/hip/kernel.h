/* Finds a kernel and packs its arguments into one buffer. */
#ifndef NEUTRINO_SIM_HIP_KERNEL_H
#define NEUTRINO_SIM_HIP_KERNEL_H

#include "hip/hip.h"

/* `kernel` is a host address that a kernel was registered under, or a hipFunction_t. */
hipError_t hip_kernel(const void *kernel, CUfunction *function);

/* A buffer of arguments in CUDA's form. */
struct hip_extra {
    size_t bytes;
    void *words[5]; /* one entry is the address of `bytes` */
};

/* As in HIP, the buffer may be longer than the arguments, like a C structure of them. Returns
 * hipErrorInvalidValue for an invalid list or a short buffer. */
hipError_t hip_extra(CUfunction function, void *const *given, struct hip_extra *extra);

#endif
