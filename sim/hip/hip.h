/* Common declarations of HIP over the CPU driver. The driver (sim/driver) and the CUDA runtime (sim/runtime)
 * are linked in and keep CUDA's names. hip_names.h renames `hipMalloc` to sim_hipMalloc; hip_stubs.c exports
 * hipMalloc. */
#ifndef NEUTRINO_SIM_HIP_H
#define NEUTRINO_SIM_HIP_H

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#pragma GCC visibility push(default) /* as HIP's own headers declare */
#include "hip_extra.h"
#pragma GCC visibility pop

#define __VECTOR_TYPES_H__ /* CUDA's dim3 and uint3 are those that HIP's header has declared */
#include "runtime/cudart.h"

#ifndef SIM_HIP_EXPORTS /* set by hip_stubs.c, which defines the exports */
#include "hip_names.h"
#endif

/* Declared for C++ only (hip_ext.h). */
#define hipExtModuleLaunchKernel                                                                             \
    _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
#define hipHccModuleLaunchKernel                                                                             \
    _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_

/* HIP's number for a CUresult or a cudaError_t: the same number if HIP has it. */
hipError_t hip_result(unsigned result);

/* Sets the result that hipGetLastError returns next, and returns it. HIP 5 stores success, too. */
hipError_t hip_last(hipError_t result);

/* Returns hipErrorNotSupported. The first call with a `name` (a string literal) prints one line to stderr. */
hipError_t hip_not_supported(const char *name);

/* Makes the device's context current if the thread has none. */
#define HIP_READY()                                                                                          \
    do {                                                                                                     \
        const hipError_t ready = hip_result(runtime_ensure_context());                                       \
        if (ready != hipSuccess)                                                                             \
            return ready;                                                                                    \
    } while (0)

static inline CUdeviceptr hip_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

#endif
