/* Ours: a header in the manner of HIP 7's, as small as shows what differs from CUDA's: nested chapters, names that
 * macros renumber, functions without a status, addresses that are void *, forms from another file. */
#ifndef GOLDEN_HIP_RUNTIME_API_H
#define GOLDEN_HIP_RUNTIME_API_H
#if !defined(__HIP_PLATFORM_AMD__)
#error "which platform?"
#endif
#include <hip/hip_version.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define hipGetDeviceProperties hipGetDevicePropertiesR0600
#define hipDeviceProp_t        hipDeviceProp_tR0600
#ifdef __cplusplus
#define __dparm(x) = x
#else
#define __dparm(x)
#endif

typedef enum hipError_t { hipSuccess = 0, hipErrorNotSupported = 801 } hipError_t;
typedef enum hipMemcpyKind { hipMemcpyDefault = 4 } hipMemcpyKind;
typedef void *hipDeviceptr_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct __hip_surface *hipSurfaceObject_t;
typedef struct hipResourceDesc { int resType; } hipResourceDesc;
typedef struct hipArray { int width; } hipArray;
typedef struct hipFunctionLaunchParams_t { int numDevices; } hipFunctionLaunchParams;
typedef struct hipDeviceProp_tR0600 { char name[256]; } hipDeviceProp_tR0600;
typedef struct dim3 { uint32_t x, y, z; } dim3;

#include <hip/hip_runtime_pt_api.h>

void __hipGetPCH(const char **pch, unsigned int *size);

static inline dim3 make_dim3(uint32_t x)
{
    dim3 made = {x, 1, 1};
    return made;
}

/**
 *  @defgroup API HIP API
 *  @{
 */
/**
 *  @defgroup Driver Initialization and Version
 *  @{
 */
hipError_t hipInit(unsigned int flags);
hipError_t hipGetDeviceProperties(hipDeviceProp_t *prop, int deviceId);
hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags, void *symbolStatus);
/** @} */

/**
 *  @defgroup Error Error Handling
 *  @{
 */
const char *hipGetErrorName(hipError_t hip_error);
__attribute__((deprecated)) int hipGetStreamDeviceId(hipStream_t stream);
/** @} */

/**
 *  @defgroup Memory Memory Management
 *  @{
 */
hipError_t hipMalloc(void **ptr, size_t size);
/**
 *  @addtogroup MemoryD Deprecated
 *  @{
 */
hipError_t hipMallocHost(void **ptr, size_t size);
/** @} */
hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, void *src, size_t sizeBytes);
hipError_t hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                          hipStream_t stream __dparm(0));
hipError_t hipFreeArray(hipArray *array);
/** @} */

/**
 *  @defgroup Clang Launch API
 *  @{
 */
hipError_t hipLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
                           size_t sharedMemBytes __dparm(0), hipStream_t stream __dparm(0));
/** @} */
/** @} */

#ifdef __cplusplus
template <class T> hipError_t hipMalloc(T **ptr, size_t size);
#endif
#endif
