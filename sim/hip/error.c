/* Results: numbers, names, and the last result of each thread. */
#include "hip/hip.h"

#include "driver/core/stub.h"

static _Thread_local hipError_t last;

/* Order of numbers. */
#define NAME(error) {error, #error},
static const struct {
    hipError_t error;
    const char *name;
} names[] = {
    /* clang-format off */
    NAME(hipSuccess)
    NAME(hipErrorInvalidValue)
    NAME(hipErrorOutOfMemory)
    NAME(hipErrorNotInitialized)
    NAME(hipErrorDeinitialized)
    NAME(hipErrorProfilerDisabled)
    NAME(hipErrorProfilerNotInitialized)
    NAME(hipErrorProfilerAlreadyStarted)
    NAME(hipErrorProfilerAlreadyStopped)
    NAME(hipErrorInvalidConfiguration)
    NAME(hipErrorInvalidPitchValue)
    NAME(hipErrorInvalidSymbol)
    NAME(hipErrorInvalidDevicePointer)
    NAME(hipErrorInvalidMemcpyDirection)
    NAME(hipErrorInsufficientDriver)
    NAME(hipErrorMissingConfiguration)
    NAME(hipErrorPriorLaunchFailure)
    NAME(hipErrorInvalidDeviceFunction)
    NAME(hipErrorNoDevice)
    NAME(hipErrorInvalidDevice)
    NAME(hipErrorInvalidImage)
    NAME(hipErrorInvalidContext)
    NAME(hipErrorContextAlreadyCurrent)
    NAME(hipErrorMapFailed)
    NAME(hipErrorUnmapFailed)
    NAME(hipErrorArrayIsMapped)
    NAME(hipErrorAlreadyMapped)
    NAME(hipErrorNoBinaryForGpu)
    NAME(hipErrorAlreadyAcquired)
    NAME(hipErrorNotMapped)
    NAME(hipErrorNotMappedAsArray)
    NAME(hipErrorNotMappedAsPointer)
    NAME(hipErrorECCNotCorrectable)
    NAME(hipErrorUnsupportedLimit)
    NAME(hipErrorContextAlreadyInUse)
    NAME(hipErrorPeerAccessUnsupported)
    NAME(hipErrorInvalidKernelFile)
    NAME(hipErrorInvalidGraphicsContext)
    NAME(hipErrorInvalidSource)
    NAME(hipErrorFileNotFound)
    NAME(hipErrorSharedObjectSymbolNotFound)
    NAME(hipErrorSharedObjectInitFailed)
    NAME(hipErrorOperatingSystem)
    NAME(hipErrorInvalidHandle)
    NAME(hipErrorIllegalState)
    NAME(hipErrorNotFound)
    NAME(hipErrorNotReady)
    NAME(hipErrorIllegalAddress)
    NAME(hipErrorLaunchOutOfResources)
    NAME(hipErrorLaunchTimeOut)
    NAME(hipErrorPeerAccessAlreadyEnabled)
    NAME(hipErrorPeerAccessNotEnabled)
    NAME(hipErrorSetOnActiveProcess)
    NAME(hipErrorContextIsDestroyed)
    NAME(hipErrorAssert)
    NAME(hipErrorHostMemoryAlreadyRegistered)
    NAME(hipErrorHostMemoryNotRegistered)
    NAME(hipErrorLaunchFailure)
    NAME(hipErrorCooperativeLaunchTooLarge)
    NAME(hipErrorNotSupported)
    NAME(hipErrorStreamCaptureUnsupported)
    NAME(hipErrorStreamCaptureInvalidated)
    NAME(hipErrorStreamCaptureMerge)
    NAME(hipErrorStreamCaptureUnmatched)
    NAME(hipErrorStreamCaptureUnjoined)
    NAME(hipErrorStreamCaptureIsolation)
    NAME(hipErrorStreamCaptureImplicit)
    NAME(hipErrorCapturedEvent)
    NAME(hipErrorStreamCaptureWrongThread)
    NAME(hipErrorGraphExecUpdateFailure)
    NAME(hipErrorUnknown)
    NAME(hipErrorRuntimeMemory)
    NAME(hipErrorRuntimeOther)
    NAME(hipErrorTbd)
    /* clang-format on */
};

static const char *name_of(unsigned error)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error)
            return names[i].name;
    return NULL;
}

hipError_t hip_result(unsigned result)
{
    switch ((CUresult)result) { /* a number that HIP lacks */
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
        return hipErrorLaunchFailure;
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        return hipErrorInvalidKernelFile;
    case CUDA_ERROR_NOT_PERMITTED:
        return hipErrorNotSupported;
    default:
        return name_of(result) == NULL ? hipErrorUnknown : (hipError_t)result;
    }
}

hipError_t hip_last(hipError_t result)
{
    last = result;
    return result;
}

hipError_t hip_not_supported(const char *name)
{
    return hip_result(sim_not_supported(name));
}

hipError_t hipGetLastError(void)
{
    const hipError_t error = last;
    last = hipSuccess;
    return error;
}

hipError_t hipPeekAtLastError(void)
{
    return last;
}

/* As 5.2.3 returns for every number to 1100. */
const char *hipGetErrorName(hipError_t hip_error)
{
    const char *name = name_of(hip_error);
    return name == NULL ? "hipErrorUnknown" : name;
}

const char *hipGetErrorString(hipError_t hipError)
{
    return hipGetErrorName(hipError);
}
