/* Every function of the driver that the runtime calls: X(name) for each. */
#ifndef NEUTRINO_SIM_RUNTIME_DRIVER_FUNCTIONS_H
#define NEUTRINO_SIM_RUNTIME_DRIVER_FUNCTIONS_H

/* clang-format off */
#define DRIVER_FUNCTIONS(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorString) \
    \
    X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxReset) X(cuDevicePrimaryCtxSetFlags) \
    X(cuDevicePrimaryCtxGetState) X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxGetDevice) X(cuCtxSynchronize) \
    \
    X(cuLibraryLoadData) X(cuLibraryUnload) X(cuLibraryGetKernel) X(cuLibraryGetGlobal) X(cuLibraryGetManaged) \
    X(cuLaunchKernel) X(cuLaunchKernelEx) \
    \
    X(cuMemAlloc) X(cuMemAllocPitch) X(cuMemAllocManaged) X(cuMemFree) X(cuMemGetInfo) \
    X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemHostRegister) X(cuMemHostUnregister) X(cuMemHostGetFlags) \
    X(cuMemHostGetDevicePointer) X(cuMemAllocAsync) X(cuMemAllocFromPoolAsync) X(cuMemFreeAsync) \
    \
    X(cuMemcpy) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) \
    X(cuMemcpyAsync) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) \
    \
    X(cuStreamSynchronize)
/* clang-format on */

#endif
