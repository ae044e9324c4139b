/* Which kernel is meant, and how its arguments are passed as one buffer. */
#ifndef NEUTRINO_SIM_HIP_KERNEL_H
#define NEUTRINO_SIM_HIP_KERNEL_H

#include "hip.h"

/* `kernel` is the host address that a kernel was registered under, or a hipFunction_t. */
hipError_t hip_kernel(const void *kernel, CUfunction *function);

#define HIP_EXTRA_WORDS 5 /* pointer, its value, size, its value, end */

/* HIP's list of a buffer and its size in CUDA's words. */
hipError_t hip_extra(void **given, void *extra[HIP_EXTRA_WORDS]);

#endif
