/* The underlying driver: libcuda.so.1 as the loader finds it, or the shim if one is preloaded. */
#ifndef NEUTRINO_SIM_RUNTIME_DRIVER_H
#define NEUTRINO_SIM_RUNTIME_DRIVER_H

#include <cuda.h>

#include "runtime/driver_functions.h"

/* From cudaProfiler.h, which the wheel does not contain. */
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

/* cuda.h's macros also expand in names of members, so each member is the ABI variant that this file is
 * compiled with. */
#define DRIVER_MEMBER(function) __typeof__(function) *function;
struct runtime_driver {
    DRIVER_FUNCTIONS(DRIVER_MEMBER)
};
#undef DRIVER_MEMBER

/* Opens the driver at the first call. Every member can be called: without a driver each returns
 * cudaErrorInsufficientDriver, and a missing function returns CUDA_ERROR_NOT_SUPPORTED. */
const struct runtime_driver *runtime_driver(void);

#define DRIVER(function) (runtime_driver()->function)

#endif
