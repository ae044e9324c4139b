/* What is the same in both APIs, said so that the compiler takes it.
 *
 * Handles are opaque pointers, addresses are 64 bits wide (void * in HIP, an integer in CUDA), results have
 * the same numbers where it matters. A function whose parameters differ only so can be called as CUDA's: each
 * ABI that a GPU's host has hands an address on as it does an integer of its width. */
#ifndef NEUTRINO_HIP_SAME_H
#define NEUTRINO_HIP_SAME_H

#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <stdint.h>

_Static_assert(sizeof(CUdeviceptr) == sizeof(void *), "an address is an address");
_Static_assert(sizeof(hipError_t) == sizeof(CUresult), "so is a result");

/* The program's own HIP function under the type of the CUDA function that does the same. */
#define NB_SAME(name, real) ((nb_##name##_t)(void *)(real))

static inline CUdeviceptr nb_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

#endif
