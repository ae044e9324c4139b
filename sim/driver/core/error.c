/* Names and texts of all results, as in driver 580.159. */
#include "driver/core/error.h"

#include <string.h>

struct meaning {
    CUresult result;
    const char *name;
    const char *text;
};

#define MEANING(result, text) {result, #result, text}

static const struct meaning meanings[] = {
    MEANING(CUDA_SUCCESS, "no error"),
    MEANING(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    MEANING(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    MEANING(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    MEANING(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    MEANING(CUDA_ERROR_PROFILER_DISABLED, "profiler disabled while using external profiling tool"),
    MEANING(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "profiler not initialized: call cudaProfilerInitialize()"),
    MEANING(CUDA_ERROR_PROFILER_ALREADY_STARTED, "profiler already started"),
    MEANING(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "profiler already stopped"),
    MEANING(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
    MEANING(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "API call is not supported in the installed CUDA driver"),
    MEANING(CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable"),
    MEANING(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    MEANING(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    MEANING(CUDA_ERROR_DEVICE_NOT_LICENSED, "device doesn't have valid Grid license"),
    MEANING(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    MEANING(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    MEANING(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "context already current"),
    MEANING(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed"),
    MEANING(CUDA_ERROR_UNMAP_FAILED, "unmapping of buffer object failed"),
    MEANING(CUDA_ERROR_ARRAY_IS_MAPPED, "array is mapped"),
    MEANING(CUDA_ERROR_ALREADY_MAPPED, "resource already mapped"),
    MEANING(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    MEANING(CUDA_ERROR_ALREADY_ACQUIRED, "resource already acquired"),
    MEANING(CUDA_ERROR_NOT_MAPPED, "resource not mapped"),
    MEANING(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "resource not mapped as array"),
    MEANING(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "resource not mapped as pointer"),
    MEANING(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    MEANING(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"),
    MEANING(CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
            "exclusive-thread device already in use by a different thread"),
    MEANING(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices"),
    MEANING(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    MEANING(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "invalid OpenGL or DirectX context"),
    MEANING(CUDA_ERROR_NVLINK_UNCORRECTABLE, "uncorrectable NVLink error detected during the execution"),
    MEANING(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found"),
    MEANING(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            "the provided PTX was compiled with an unsupported toolchain."),
    MEANING(CUDA_ERROR_JIT_COMPILATION_DISABLED, "PTX JIT compilation was disabled"),
    MEANING(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "the provided execution affinity is not supported"),
    MEANING(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC,
            "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    MEANING(CUDA_ERROR_CONTAINED, "Invalid access of peer GPU memory over nvlink or a hardware error"),
    MEANING(CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"),
    MEANING(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    MEANING(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found"),
    MEANING(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "shared object initialization failed"),
    MEANING(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"),
    MEANING(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    MEANING(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    MEANING(CUDA_ERROR_LOSSY_QUERY, "attempted introspection would be semantically lossy"),
    MEANING(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    MEANING(CUDA_ERROR_NOT_READY, "device not ready"),
    MEANING(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    MEANING(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    MEANING(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    MEANING(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "launch uses incompatible texturing mode"),
    MEANING(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    MEANING(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    MEANING(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"),
    MEANING(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    MEANING(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    MEANING(CUDA_ERROR_TOO_MANY_PEERS, "peer mapping resources exhausted"),
    MEANING(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
            "part or all of the requested memory range is already mapped"),
    MEANING(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
            "pointer does not correspond to a registered memory region"),
    MEANING(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    MEANING(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    MEANING(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    MEANING(CUDA_ERROR_INVALID_ADDRESS_SPACE, "operation not supported on global/shared address space"),
    MEANING(CUDA_ERROR_INVALID_PC, "invalid program counter"),
    MEANING(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    MEANING(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    MEANING(CUDA_ERROR_TENSOR_MEMORY_LEAK, "tensor memory not completely freed"),
    MEANING(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    MEANING(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    MEANING(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
    MEANING(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
            "system has unsupported display driver / cuda driver combination"),
    MEANING(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
            "forward compatibility was attempted on non supported HW"),
    MEANING(CUDA_ERROR_MPS_CONNECTION_FAILED,
            "MPS client failed to connect to the MPS control daemon or the MPS server"),
    MEANING(CUDA_ERROR_MPS_RPC_FAILURE,
            "the remote procedural call between the MPS server and the MPS client failed"),
    MEANING(CUDA_ERROR_MPS_SERVER_NOT_READY, "MPS server is not ready to accept new MPS client requests"),
    MEANING(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,
            "the hardware resources required to create MPS client have been exhausted"),
    MEANING(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
            "the hardware resources required to support device connections have been exhausted"),
    MEANING(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS client has been terminated by the server"),
    MEANING(
        CUDA_ERROR_CDP_NOT_SUPPORTED,
        "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it"),
    MEANING(CUDA_ERROR_CDP_VERSION_MISMATCH,
            "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_MERGE,
            "operation would result in a merge of separate capture sequences"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "dependency created on uncaptured work in another stream"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
            "operation would make the legacy stream depend on a capturing blocking stream"),
    MEANING(CUDA_ERROR_CAPTURED_EVENT,
            "operation not permitted on an event last recorded in a capturing stream"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
            "attempt to terminate a thread-local capture sequence from another thread"),
    MEANING(CUDA_ERROR_TIMEOUT, "wait operation timed out"),
    MEANING(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
            "the graph update was not performed because it included changes which violated constraints "
            "specific to instantiated graph update"),
    MEANING(CUDA_ERROR_EXTERNAL_DEVICE, "an async error has occured in external entity outside of CUDA"),
    MEANING(CUDA_ERROR_INVALID_CLUSTER_SIZE,
            "a kernel launch error has occurred due to cluster misconfiguration"),
    MEANING(CUDA_ERROR_FUNCTION_NOT_LOADED,
            "the function handle is not loaded when calling an API that requires a loaded function"),
    MEANING(CUDA_ERROR_INVALID_RESOURCE_TYPE,
            "one or more resources passed in are not valid resource types for the operation"),
    MEANING(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            "one or more resources are insufficient or non-applicable for the operation"),
    MEANING(CUDA_ERROR_KEY_ROTATION, "an error happened during the key rotation sequence"),
    MEANING(CUDA_ERROR_UNKNOWN, "unknown error"),
#if CUDA_VERSION >= 13050
    MEANING(CUDA_ERROR_STREAM_DETACHED, "stream detached"),
    MEANING(CUDA_ERROR_GRAPH_RECAPTURE_FAILURE, "graph recapture failure"),
    MEANING(CUDA_ERROR_FABRIC_NOT_READY, "fabric not ready"),
#endif
};

static const struct meaning *find(CUresult error)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].result == error)
            return &meanings[i];
    return NULL;
}

bool sim_error_find(const char *name, size_t length, CUresult *result)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strlen(meanings[i].name) == length && memcmp(meanings[i].name, name, length) == 0) {
            *result = meanings[i].result;
            return true;
        }
    return false;
}

CUresult cuGetErrorName(CUresult error, const char **pStr)
{
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct meaning *found = find(error);
    *pStr = found == NULL ? NULL : found->name;
    return found == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **pStr)
{
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct meaning *found = find(error);
    *pStr = found == NULL ? NULL : found->text;
    return found == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
