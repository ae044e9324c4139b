/* Functions of the real driver, found before the submission is loaded and kept in the arena. They are found
 * with libc's own dlopen, which no preloaded library can intercept.
 *
 * Names carry their version, as in replay/base/driver.h. */
#ifndef NEUTRINO_INLINE_DRIVER_H
#define NEUTRINO_INLINE_DRIVER_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>

/* clang-format off */
#define NB_DRIVER_FUNCTIONS(X) \
    X(cuInit) X(cuDeviceGet) X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain) X(cuCtxGetCurrent) \
    X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuCtxResetPersistingL2Cache) X(cuMemGetInfo_v2) X(cuMemAlloc_v2) \
    X(cuMemHostAlloc) X(cuMemHostGetDevicePointer_v2) X(cuMemFreeHost) X(cuMemcpyHtoDAsync_v2) \
    X(cuMemcpyDtoH_v2) X(cuModuleLoadDataEx) X(cuModuleGetFunction) X(cuFuncSetAttribute) X(cuLaunchKernelEx) \
    X(cuStreamWaitEvent) X(cuEventCreate) X(cuEventRecord) X(cuEventElapsedTime)
/* clang-format on */

/* NULL where a driver is older. */
#define NB_DRIVER_OPTIONAL(X)                                                                                \
    X(cuEventElapsedTime_v2, (float *, CUevent, CUevent))                                                    \
    X(cuCtxRecordEvent, (CUcontext, CUevent))                                                                \
    X(cuFuncLoad, (CUfunction))

struct nb_driver {
#define NB_MEMBER(name) __typeof__(&name) name;
    NB_DRIVER_FUNCTIONS(NB_MEMBER)
#undef NB_MEMBER
#define NB_MEMBER(name, parameters) CUresult(CUDAAPI *name) parameters;
    NB_DRIVER_OPTIONAL(NB_MEMBER)
#undef NB_MEMBER
};

/* 0, or -1 and a line in `error` (NB_INLINE_TEXT bytes). */
int nb_driver_open(struct nb_driver *driver, const char *path, char *error)
    __attribute__((visibility("hidden")));

#endif
