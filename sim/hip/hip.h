/* HIP over the CPU driver: what its files share. The driver (sim/driver) and the CUDA runtime (sim/runtime)
 * are linked in; their functions have CUDA's names here, and HIP's are defined under HIP's: hip_names.h makes
 * `hipMalloc` sim_hipMalloc, and the export of the header's name is in hip_stubs.c, as for the driver. */
#ifndef NEUTRINO_SIM_HIP_H
#define NEUTRINO_SIM_HIP_H

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#pragma GCC visibility push(default) /* as HIP's own headers declare */
#include "hip_extra.h"
#pragma GCC visibility pop

#define __VECTOR_TYPES_H__ /* CUDA's dim3 and uint3 are those that HIP's header has declared */
#include "runtime/cudart.h"

#ifndef SIM_HIP_EXPORTS /* said by hip_stubs.c alone, which defines the exports */
#include "hip_names.h"
#endif

/* Declared for C++ alone (hip_ext.h). */
#define hipExtModuleLaunchKernel                                                                             \
    _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
#define hipHccModuleLaunchKernel                                                                             \
    _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_

/* HIP's number of a CUresult or a cudaError_t: the same where HIP has one. */
hipError_t hip_result(unsigned result);

/* What the call that returns now leaves for hipGetLastError; HIP 5 remembers success, too. */
hipError_t hip_last(hipError_t result);

/* hipErrorNotSupported; the first call with a `name` (a string literal) says so in one line on stderr. */
hipError_t hip_not_supported(const char *name);

/* The thread has a current context: its device's, made on first use. */
#define HIP_READY()                                                                                          \
    do {                                                                                                     \
        const hipError_t ready = hip_result(runtime_ensure_context());                                                \
        if (ready != hipSuccess)                                                                             \
            return ready;                                                                                    \
    } while (0)

static inline CUdeviceptr hip_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

#endif
