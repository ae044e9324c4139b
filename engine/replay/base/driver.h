/* The driver: a table of the functions that the engine calls, by their ABI names, and a clock.
 *
 * Names carry their version, which cuda.h declares under every header; the driver exports these symbols.
 * Tests put their own functions into the table. */
#ifndef NEUTRINO_ENGINE_DRIVER_H
#define NEUTRINO_ENGINE_DRIVER_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL /* so that no macro of cuda.h renames what is named here */
#endif
#include <cuda.h>
#include <stdint.h>

/* clang-format off */
#define NB_DRIVER_FUNCTIONS(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) \
    X(cuDeviceGetAttribute) X(cuDeviceTotalMem_v2) X(cuDeviceGetPCIBusId) X(cuGetErrorName) \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease_v2) X(cuCtxSetCurrent) X(cuCtxGetLimit) \
    X(cuCtxSetLimit) X(cuCtxSynchronize) X(cuCtxResetPersistingL2Cache) X(cuMemGetInfo_v2) \
    X(cuMemGetAllocationGranularity) \
    X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemUnmap) \
    X(cuMemSetAccess) X(cuMemAlloc_v2) X(cuMemFree_v2) X(cuMemHostAlloc) X(cuMemHostGetDevicePointer_v2) \
    X(cuMemFreeHost) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2) X(cuMemcpyDtoDAsync_v2) \
    X(cuMemcpy3DAsync_v2) X(cuMemsetD8Async) X(cuMemsetD16Async) X(cuMemsetD32Async) X(cuMemsetD2D8Async) \
    X(cuMemsetD2D16Async) X(cuMemsetD2D32Async) X(cuModuleLoadDataEx) X(cuModuleUnload) \
    X(cuModuleGetFunction) X(cuModuleGetGlobal_v2) X(cuLibraryLoadData) X(cuLibraryUnload) \
    X(cuLibraryGetKernel) X(cuLibraryGetGlobal) X(cuKernelGetFunction) X(cuFuncSetAttribute) \
    X(cuFuncGetAttribute) X(cuLaunchKernelEx) X(cuStreamCreateWithPriority) X(cuStreamDestroy_v2) \
    X(cuStreamWaitEvent) X(cuStreamQuery) X(cuEventCreate) X(cuEventDestroy_v2) X(cuEventRecord) \
    X(cuEventQuery) X(cuEventElapsedTime) X(cuGraphCreate) X(cuGraphDestroy) X(cuGraphAddKernelNode_v2) \
    X(cuGraphKernelNodeSetAttribute) X(cuGraphAddMemsetNode) X(cuGraphAddMemcpyNode) \
    X(cuGraphAddEmptyNode) X(cuGraphInstantiateWithFlags) X(cuGraphExecDestroy) X(cuGraphLaunch) \
    X(cuGraphUpload) X(cuGraphNodeSetEnabled)
/* clang-format on */

/* NULL for older drivers. Declared here, because cuda.h may be older, too. Only libcuda-over-hip.so, which
 * implements CUDA's functions with HIP, has the last one: it compiles HIP C++ for the device. */
#define NB_DRIVER_OPTIONAL(X)                                                                                \
    X(cuEventElapsedTime_v2, (float *, CUevent, CUevent))                                                    \
    X(cuGraphAddDependencies_v2,                                                                             \
      (CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t))                  \
    X(cuFuncLoad, (CUfunction))                                                                              \
    X(nb_module_load_source, (CUmodule *, const char *hip, const char *ptx, char *log, size_t log_bytes))

struct nb_driver {
    void *library;
#define NB_MEMBER(name) __typeof__(&name) name;
    NB_DRIVER_FUNCTIONS(NB_MEMBER)
#undef NB_MEMBER
#define NB_MEMBER(name, parameters) CUresult(CUDAAPI *name) parameters;
    NB_DRIVER_OPTIONAL(NB_MEMBER)
#undef NB_MEMBER
    uint64_t (*now_ns)(void);
};

/* Fill the table from the library at `path`. Functions that HIP lacks return CUDA_ERROR_NOT_SUPPORTED; a CUDA
 * driver that lacks a function is refused. Returns an enum nb_replay_status. */
int nb_driver_open(struct nb_driver *driver, const char *path, char *error)
    __attribute__((visibility("hidden")));

/* The status of an error that ends the context: NB_REPLAY_FAILED, or NB_REPLAY_NO_DRIVER for errors of the
 * device's memory and links, which no kernel causes. */
int nb_failure_status(CUresult result) __attribute__((visibility("hidden")));

/* NB_REPLAY_OK, or nb_failure_status() with the line "CALL: CUDA_ERROR_NAME (700)". Errors after which the
 * context lives on (out of memory, not supported) are NB_REPLAY_CANNOT. */
int nb_driver_status(const struct nb_driver *driver, CUresult result, const char *call, char *error)
    __attribute__((visibility("hidden")));

/* The name of a result, never NULL. */
const char *nb_driver_name(const struct nb_driver *driver, CUresult result)
    __attribute__((visibility("hidden")));

#endif
