/* Enumerations whose numbers are passed on as they are (codegen/semantics/hip_and_cuda.toml). */
#include "hip/hip.h"

#define SAME(hip, cuda) _Static_assert((long)hip == (long)cuda, "numbers are handed on as they are")

SAME(hipMemcpyHostToHost, cudaMemcpyHostToHost);
SAME(hipMemcpyHostToDevice, cudaMemcpyHostToDevice);
SAME(hipMemcpyDeviceToHost, cudaMemcpyDeviceToHost);
SAME(hipMemcpyDeviceToDevice, cudaMemcpyDeviceToDevice);
SAME(hipMemcpyDefault, cudaMemcpyDefault);

SAME(hipFuncAttributeMaxDynamicSharedMemorySize, cudaFuncAttributeMaxDynamicSharedMemorySize);
SAME(hipFuncAttributePreferredSharedMemoryCarveout, cudaFuncAttributePreferredSharedMemoryCarveout);

SAME(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(HIP_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(HIP_FUNC_ATTRIBUTE_PTX_VERSION, CU_FUNC_ATTRIBUTE_PTX_VERSION);
SAME(HIP_FUNC_ATTRIBUTE_BINARY_VERSION, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME(HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
SAME(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);

SAME(hipStreamPerThread, CU_STREAM_PER_THREAD);

SAME(hipDeviceScheduleSpin, CU_CTX_SCHED_SPIN);
SAME(hipDeviceScheduleYield, CU_CTX_SCHED_YIELD);
SAME(hipDeviceScheduleBlockingSync, CU_CTX_SCHED_BLOCKING_SYNC);
SAME(hipDeviceMapHost, CU_CTX_MAP_HOST);

_Static_assert(sizeof(hipUUID) == sizeof(CUuuid) && sizeof(hipDeviceptr_t) == sizeof(CUdeviceptr) &&
                   sizeof(dim3) == 12,
               "handed on as they are");

/* Errors: hip_result returns every number that HIP has a name for. */
SAME(hipErrorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(hipErrorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(hipErrorNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME(hipErrorDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(hipErrorInvalidConfiguration, cudaErrorInvalidConfiguration);
SAME(hipErrorInvalidPitchValue, cudaErrorInvalidPitchValue);
SAME(hipErrorInvalidSymbol, cudaErrorInvalidSymbol);
SAME(hipErrorInvalidDevicePointer, cudaErrorInvalidDevicePointer);
SAME(hipErrorInvalidMemcpyDirection, cudaErrorInvalidMemcpyDirection);
SAME(hipErrorInsufficientDriver, cudaErrorInsufficientDriver);
SAME(hipErrorMissingConfiguration, cudaErrorMissingConfiguration);
SAME(hipErrorPriorLaunchFailure, cudaErrorPriorLaunchFailure);
SAME(hipErrorInvalidDeviceFunction, cudaErrorInvalidDeviceFunction);
SAME(hipErrorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(hipErrorInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(hipErrorInvalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME(hipErrorInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME(hipErrorMapFailed, CUDA_ERROR_MAP_FAILED);
SAME(hipErrorUnmapFailed, CUDA_ERROR_UNMAP_FAILED);
SAME(hipErrorNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(hipErrorUnsupportedLimit, CUDA_ERROR_UNSUPPORTED_LIMIT);
SAME(hipErrorPeerAccessUnsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
SAME(hipErrorInvalidKernelFile, CUDA_ERROR_INVALID_PTX);
SAME(hipErrorInvalidSource, CUDA_ERROR_INVALID_SOURCE);
SAME(hipErrorFileNotFound, CUDA_ERROR_FILE_NOT_FOUND);
SAME(hipErrorSharedObjectSymbolNotFound, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
SAME(hipErrorOperatingSystem, CUDA_ERROR_OPERATING_SYSTEM);
SAME(hipErrorInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
SAME(hipErrorIllegalState, CUDA_ERROR_ILLEGAL_STATE);
SAME(hipErrorNotFound, CUDA_ERROR_NOT_FOUND);
SAME(hipErrorNotReady, CUDA_ERROR_NOT_READY);
SAME(hipErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(hipErrorLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(hipErrorLaunchTimeOut, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(hipErrorPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME(hipErrorPeerAccessNotEnabled, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
SAME(hipErrorSetOnActiveProcess, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
SAME(hipErrorContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(hipErrorAssert, CUDA_ERROR_ASSERT);
SAME(hipErrorHostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
SAME(hipErrorHostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
SAME(hipErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED);
SAME(hipErrorCooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME(hipErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(hipErrorStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(hipErrorStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
SAME(hipErrorStreamCaptureMerge, CUDA_ERROR_STREAM_CAPTURE_MERGE);
SAME(hipErrorStreamCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
SAME(hipErrorStreamCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
SAME(hipErrorStreamCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
SAME(hipErrorStreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
SAME(hipErrorCapturedEvent, CUDA_ERROR_CAPTURED_EVENT);
SAME(hipErrorStreamCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
SAME(hipErrorGraphExecUpdateFailure, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
SAME(hipErrorUnknown, CUDA_ERROR_UNKNOWN);
