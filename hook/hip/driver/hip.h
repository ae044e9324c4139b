/* HIP's functions, in which the CUDA driver's are said here.
 *
 * These sources are compiled twice: into the HIP shim, where HIP(name) is the real library's function and the
 * driver functions are called through their slots (NB_REAL), and, with NB_HIP_BRIDGE, into
 * libcuda-over-hip.so, which opens the HIP library at the first call and exports the driver functions by
 * their names.
 *
 * "Since" is what AMD's hip_hcc.map of ROCm 7.2 says of a symbol's first version. */
#ifndef NEUTRINO_HIP_DRIVER_HIP_H
#define NEUTRINO_HIP_DRIVER_HIP_H

#ifdef NB_HIP_BRIDGE
#pragma GCC visibility push(default) /* what cuda.h declares is what the library exports */
#include <cuda.h>
#pragma GCC visibility pop
#else
#include <cuda.h>
#endif
#include <hip/hip_runtime_api.h>

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define NB_HIP_FUNCTIONS(X) \
    X(hipInit) X(hipDriverGetVersion) X(hipRuntimeGetVersion) X(hipGetErrorName) X(hipGetErrorString) \
    X(hipGetLastError) \
    X(hipGetDeviceCount) X(hipDeviceGet) X(hipDeviceGetName) X(hipDeviceGetAttribute) X(hipDeviceTotalMem) \
    X(hipDeviceGetUuid) X(hipDeviceGetPCIBusId) X(hipGetDevice) X(hipSetDevice) X(hipDeviceSynchronize) \
    X(hipDeviceGetLimit) X(hipDeviceGetStreamPriorityRange) X(hipDevicePrimaryCtxRetain) \
    X(hipDevicePrimaryCtxRelease) X(hipDevicePrimaryCtxReset) X(hipDeviceGetMemPool) \
    X(hipDeviceGetDefaultMemPool) X(hipMalloc) X(hipFree) X(hipMallocManaged) X(hipMemAllocPitch) \
    X(hipHostMalloc) X(hipHostFree) X(hipHostGetDevicePointer) X(hipHostRegister) X(hipHostUnregister) \
    X(hipMemGetInfo) X(hipMemGetAddressRange) X(hipPointerGetAttribute) X(hipMallocAsync) X(hipFreeAsync) \
    X(hipMallocFromPoolAsync) X(hipMemPoolCreate) X(hipMemPoolDestroy) X(hipMemPoolTrimTo) \
    X(hipMemAddressReserve) X(hipMemAddressFree) X(hipMemCreate) X(hipMemRelease) X(hipMemMap) X(hipMemUnmap) \
    X(hipMemSetAccess) X(hipMemGetAccess) X(hipMemGetAllocationGranularity) \
    X(hipMemGetAllocationPropertiesFromHandle) X(hipMemRetainAllocationHandle) \
    X(hipMemcpyHtoD) X(hipMemcpyDtoH) X(hipMemcpyDtoD) X(hipMemcpyHtoDAsync) X(hipMemcpyDtoHAsync) \
    X(hipMemcpyDtoDAsync) X(hipMemcpy) X(hipMemcpyAsync) X(hipMemcpy3D) X(hipMemcpy3DAsync) \
    X(hipMemsetD8) X(hipMemsetD16) X(hipMemsetD32) X(hipMemsetD8Async) X(hipMemsetD16Async) \
    X(hipMemsetD32Async) X(hipMemset2D) X(hipMemset2DAsync) \
    X(hipModuleLoad) X(hipModuleLoadDataEx) X(hipModuleUnload) X(hipModuleGetFunction) X(hipModuleGetGlobal) \
    X(hipFuncGetAttribute) X(hipFuncSetAttribute) X(hipModuleLaunchKernel) X(hipLaunchHostFunc) \
    X(hipStreamCreateWithFlags) X(hipStreamCreateWithPriority) X(hipStreamDestroy) X(hipStreamSynchronize) \
    X(hipStreamQuery) X(hipStreamWaitEvent) X(hipStreamGetFlags) X(hipStreamGetPriority) \
    X(hipGetStreamDeviceId) X(hipStreamBeginCapture) X(hipStreamEndCapture) X(hipStreamIsCapturing) \
    X(hipThreadExchangeStreamCaptureMode) X(hipStreamAddCallback) X(hipStreamWriteValue32) \
    X(hipEventCreateWithFlags) X(hipEventDestroy) X(hipEventRecord) X(hipEventSynchronize) X(hipEventQuery) \
    X(hipEventElapsedTime) \
    X(hipGraphCreate) X(hipGraphDestroy) X(hipGraphClone) X(hipGraphGetNodes) X(hipGraphGetEdges) \
    X(hipGraphNodeGetType) X(hipGraphAddDependencies) X(hipGraphAddKernelNode) X(hipGraphAddMemcpyNode) \
    X(hipGraphAddMemsetNode) X(hipGraphAddEmptyNode) X(hipGraphAddHostNode) X(hipGraphAddChildGraphNode) \
    X(hipGraphAddEventRecordNode) X(hipGraphAddEventWaitNode) X(hipGraphKernelNodeGetParams) \
    X(hipGraphMemcpyNodeGetParams) X(hipGraphMemsetNodeGetParams) X(hipGraphChildGraphNodeGetGraph) \
    X(hipGraphExecKernelNodeSetParams) X(hipGraphExecMemcpyNodeSetParams) X(hipGraphExecMemsetNodeSetParams) \
    X(hipGraphExecUpdate) X(hipGraphExecChildGraphNodeSetParams) X(hipGraphInstantiateWithFlags) X(hipGraphLaunch) X(hipGraphExecDestroy)
/* clang-format on */

/* hipMemcpyHtoD.. take the host's side as `void *` before 6.0; a driver function has it const. */
#define NB_HIP_HOST(pointer) ((void *)(uintptr_t)(pointer))

#ifdef NB_HIP_BRIDGE
struct nb_hip {
#define NB_MEMBER(name) __typeof__(&name) name;
    NB_HIP_FUNCTIONS(NB_MEMBER)
#undef NB_MEMBER
};

/* The table, filled at the first call. A function that the library lacks answers "not supported" (801). */
const struct nb_hip *nb_hip(void) __attribute__((visibility("hidden")));

#define HIP(name) (nb_hip()->name)
#else
#include "core/driver/slots.h"
#include "real.h"
#include "surface.h"

#define HIP(name) NB_REAL(name)
#endif

/* A function that headers or libraries of some versions lack, by its name: NULL where this library has none.
 */
void *nb_hip_find(const char *name) __attribute__((visibility("hidden")));

/* HIP_LATER(name, result, parameters): the same as a pointer of its type. */
#define HIP_LATER(name, ...) ((hipError_t(*) __VA_ARGS__)(uintptr_t)nb_hip_find(#name))

/* The version of the library, 502 for 5.2, not that of the header: numbers of some enums and the order of
 * some structures changed in between. */
unsigned nb_hip_version(void) __attribute__((visibility("hidden")));

/* What a driver function answers. A call that the shim makes for itself, and that fails, must not be what
 * hipGetLastError tells the program. */
static inline CUresult nb_hip_result(hipError_t result)
{
    if (result != hipSuccess)
        (void)HIP(hipGetLastError)();
    return (CUresult)result;
}

/* The driver's number 1 for the default stream is newer than 5.2 in HIP, where NULL always says it. */
static inline hipStream_t nb_hip_stream(CUstream stream)
{
    return stream == CU_STREAM_LEGACY ? NULL : (hipStream_t)stream;
}

static inline hipDeviceptr_t nb_hip_address(CUdeviceptr address)
{
    return (hipDeviceptr_t)(uintptr_t)address;
}

/* HIP has one context a device that matters: it is the device's ordinal and one. */
static inline CUcontext nb_hip_context(int device)
{
    return (CUcontext)(uintptr_t)(device + 1);
}

/* ---- what differs between the shim and the bridge ------------------------------------------------------ */

/* Is it the address of a host stub, which __hipRegisterFunction named? Else it is a hipFunction_t. */
bool nb_hip_is_stub(CUfunction function) __attribute__((visibility("hidden")));

/* Tells a stream from all others that the process has had, its handle from a destroyed one's; 0: it does not.
 */
unsigned long long nb_hip_stream_number(hipStream_t stream) __attribute__((visibility("hidden")));

/* A kernel's attribute by the address of its stub. */
CUresult nb_hip_stub_attribute(int *value, CUfunction_attribute attribute, CUfunction stub)
    __attribute__((visibility("hidden")));

/* Is `module` what __hipRegisterFatBinary gave? Then where its variable of this name is, or `result` says why
 * not: hipModuleGetGlobal knows only modules that a program loads. */
bool nb_hip_registered_variable(CUmodule module, const char *name, hipDeviceptr_t *address, size_t *bytes,
                                CUresult *result) __attribute__((visibility("hidden")));

/* ---- launch.c ------------------------------------------------------------------------------------------ */

enum { NB_HIP_PACKED_MAX = 9 };

/* The driver's list of packed parameters in `into`, with HIP's end: it is 3, the driver's is 0. NULL for
 * NULL. */
void **nb_hip_packed(void **extra, void *into[NB_HIP_PACKED_MAX]) __attribute__((visibility("hidden")));

/* ---- copy.c -------------------------------------------------------------------------------------------- */

/* False: HIP has no words for it (arrays of another make, mipmaps). */
bool nb_hip_copy_of(const CUDA_MEMCPY3D *from, hipMemcpy3DParms *into) __attribute__((visibility("hidden")));
bool nb_hip_copy_to(const hipMemcpy3DParms *from, CUDA_MEMCPY3D *into) __attribute__((visibility("hidden")));

#endif
