/* Names and meanings of every result. */
#include "api.h"

#include <stddef.h>

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
    MEANING(CUDA_ERROR_PROFILER_DISABLED, "profiler disabled"),
    MEANING(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "profiler not initialized"),
    MEANING(CUDA_ERROR_PROFILER_ALREADY_STARTED, "profiler already started"),
    MEANING(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "profiler already stopped"),
    MEANING(CUDA_ERROR_STUB_LIBRARY, "stub library"),
    MEANING(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "call requires newer driver"),
    MEANING(CUDA_ERROR_DEVICE_UNAVAILABLE, "device unavailable"),
    MEANING(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    MEANING(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    MEANING(CUDA_ERROR_DEVICE_NOT_LICENSED, "device not licensed"),
    MEANING(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    MEANING(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    MEANING(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "context already current"),
    MEANING(CUDA_ERROR_MAP_FAILED, "map failed"),
    MEANING(CUDA_ERROR_UNMAP_FAILED, "unmap failed"),
    MEANING(CUDA_ERROR_ARRAY_IS_MAPPED, "array is mapped"),
    MEANING(CUDA_ERROR_ALREADY_MAPPED, "already mapped"),
    MEANING(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    MEANING(CUDA_ERROR_ALREADY_ACQUIRED, "already acquired"),
    MEANING(CUDA_ERROR_NOT_MAPPED, "not mapped"),
    MEANING(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "not mapped as array"),
    MEANING(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "not mapped as pointer"),
    MEANING(CUDA_ERROR_ECC_UNCORRECTABLE, "ecc uncorrectable"),
    MEANING(CUDA_ERROR_UNSUPPORTED_LIMIT, "unsupported limit"),
    MEANING(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, "context already in use"),
    MEANING(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access unsupported"),
    MEANING(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    MEANING(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "invalid graphics context"),
    MEANING(CUDA_ERROR_NVLINK_UNCORRECTABLE, "nvlink uncorrectable"),
    MEANING(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "jit compiler not found"),
    MEANING(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "unsupported ptx version"),
    MEANING(CUDA_ERROR_JIT_COMPILATION_DISABLED, "jit compilation disabled"),
    MEANING(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "unsupported exec affinity"),
    MEANING(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, "unsupported devside sync"),
    MEANING(CUDA_ERROR_CONTAINED, "contained"),
    MEANING(CUDA_ERROR_INVALID_SOURCE, "invalid source"),
    MEANING(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    MEANING(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found"),
    MEANING(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "shared object init failed"),
    MEANING(CUDA_ERROR_OPERATING_SYSTEM, "operating system"),
    MEANING(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    MEANING(CUDA_ERROR_ILLEGAL_STATE, "illegal state"),
    MEANING(CUDA_ERROR_LOSSY_QUERY, "lossy query"),
    MEANING(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    MEANING(CUDA_ERROR_NOT_READY, "device not ready"),
    MEANING(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    MEANING(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    MEANING(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    MEANING(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "launch incompatible texturing"),
    MEANING(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access already enabled"),
    MEANING(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access not enabled"),
    MEANING(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "primary context active"),
    MEANING(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    MEANING(CUDA_ERROR_ASSERT, "assert"),
    MEANING(CUDA_ERROR_TOO_MANY_PEERS, "too many peers"),
    MEANING(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "host memory already registered"),
    MEANING(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "host memory not registered"),
    MEANING(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    MEANING(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    MEANING(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    MEANING(CUDA_ERROR_INVALID_ADDRESS_SPACE, "invalid address space"),
    MEANING(CUDA_ERROR_INVALID_PC, "invalid pc"),
    MEANING(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    MEANING(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    MEANING(CUDA_ERROR_TENSOR_MEMORY_LEAK, "tensor memory leak"),
    MEANING(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    MEANING(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    MEANING(CUDA_ERROR_SYSTEM_NOT_READY, "system not ready"),
    MEANING(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "system driver mismatch"),
    MEANING(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "compat not supported on device"),
    MEANING(CUDA_ERROR_MPS_CONNECTION_FAILED, "mps connection failed"),
    MEANING(CUDA_ERROR_MPS_RPC_FAILURE, "mps rpc failure"),
    MEANING(CUDA_ERROR_MPS_SERVER_NOT_READY, "mps server not ready"),
    MEANING(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "mps max clients reached"),
    MEANING(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "mps max connections reached"),
    MEANING(CUDA_ERROR_MPS_CLIENT_TERMINATED, "mps client terminated"),
    MEANING(CUDA_ERROR_CDP_NOT_SUPPORTED, "cdp not supported"),
    MEANING(CUDA_ERROR_CDP_VERSION_MISMATCH, "cdp version mismatch"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_MERGE, "stream capture merge"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "stream capture unmatched"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "stream capture unjoined"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "stream capture isolation"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "stream capture implicit"),
    MEANING(CUDA_ERROR_CAPTURED_EVENT, "captured event"),
    MEANING(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "stream capture wrong thread"),
    MEANING(CUDA_ERROR_TIMEOUT, "timeout"),
    MEANING(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "graph exec update failure"),
    MEANING(CUDA_ERROR_EXTERNAL_DEVICE, "external device"),
    MEANING(CUDA_ERROR_INVALID_CLUSTER_SIZE, "cluster size is not supported"),
    MEANING(CUDA_ERROR_FUNCTION_NOT_LOADED, "function not loaded"),
    MEANING(CUDA_ERROR_INVALID_RESOURCE_TYPE, "invalid resource type"),
    MEANING(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "invalid resource configuration"),
    MEANING(CUDA_ERROR_KEY_ROTATION, "key rotation"),
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
