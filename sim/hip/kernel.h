/* Which kernel is meant, and how its arguments are passed as one buffer. */
#ifndef NEUTRINO_SIM_HIP_KERNEL_H
#define NEUTRINO_SIM_HIP_KERNEL_H

#include "hip/hip.h"

/* `kernel` is the host address that a kernel was registered under, or a hipFunction_t. */
hipError_t hip_kernel(const void *kernel, CUfunction *function);

/* A buffer of arguments in the driver's words. */
struct hip_extra {
    size_t bytes;
    void *words[5]; /* one of them is the address of `bytes` */
};

/* As HIP does it: the buffer may be longer than the arguments, as a C struct of them is. hipErrorInvalidValue
 * for a list in other words, and for a buffer that is too short. */
hipError_t hip_extra(CUfunction function, void *const *given, struct hip_extra *extra);

#endif
