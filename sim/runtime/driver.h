/* The driver below: libcuda.so.1 as the loader finds it, so the shim where one is preloaded. */
#ifndef NEUTRINO_SIM_RUNTIME_DRIVER_H
#define NEUTRINO_SIM_RUNTIME_DRIVER_H

#include <cuda.h>

#include "runtime/driver_functions.h"

/* Of cudaProfiler.h, which the wheel does not bring. */
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

/* cuda.h's macros expand in a member's name as they do where it is used, so each member is of the variant,
 * and of the prototype, that this file is compiled with. */
#define DRIVER_MEMBER(function) __typeof__(function) *function;
struct runtime_driver {
    DRIVER_FUNCTIONS(DRIVER_MEMBER)
};
#undef DRIVER_MEMBER

/* Opened by the first call. Every member can be called: without a driver all return
 * cudaErrorInsufficientDriver, and one that the driver lacks CUDA_ERROR_NOT_SUPPORTED. */
const struct runtime_driver *runtime_driver(void);

#define DRIVER(function) (runtime_driver()->function)

#endif
