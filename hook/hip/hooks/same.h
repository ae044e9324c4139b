/* Calls a HIP function as the CUDA function of the same ABI. Handles are opaque pointers, addresses have 64
 * bits (void * in HIP, an integer in CUDA), and results have the same numbers. On x86-64 an address and an
 * integer of its size are passed in the same way. */
#ifndef NEUTRINO_HIP_SAME_H
#define NEUTRINO_HIP_SAME_H

#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <stdint.h>

_Static_assert(sizeof(CUdeviceptr) == sizeof(void *), "an address is an address");
_Static_assert(sizeof(hipError_t) == sizeof(CUresult), "so is a result");

/* A HIP function with the type of its CUDA function. */
#define NB_SAME(name, real) ((nb_##name##_t)(void *)(real))

static inline CUdeviceptr nb_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

#endif
