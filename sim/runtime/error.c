/* Results: the driver's numbers with the runtime's names. */
#include "runtime/cudart.h"
#include "runtime/unsupported.h"

static _Thread_local cudaError_t last;

/* Texts of the errors that only the runtime has. Sorted by number. */
#define ERROR(code, text) {code, #code, text},
static const struct {
    cudaError_t code;
    const char *name, *text;
} errors[] = {
    /* clang-format off */
    ERROR(cudaSuccess, NULL)
    ERROR(cudaErrorInvalidValue, NULL)
    ERROR(cudaErrorMemoryAllocation, NULL)
    ERROR(cudaErrorInitializationError, NULL)
    ERROR(cudaErrorCudartUnloading, NULL)
    ERROR(cudaErrorProfilerDisabled, NULL)
    ERROR(cudaErrorProfilerNotInitialized, NULL)
    ERROR(cudaErrorProfilerAlreadyStarted, NULL)
    ERROR(cudaErrorProfilerAlreadyStopped, NULL)
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument")
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument")
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol")
    ERROR(cudaErrorInvalidHostPointer, "invalid host pointer")
    ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer")
    ERROR(cudaErrorInvalidTexture, "invalid texture reference")
    ERROR(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer")
    ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor")
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")
    ERROR(cudaErrorAddressOfConstant, "invalid address of constant")
    ERROR(cudaErrorTextureFetchFailed, "fetch from texture failed")
    ERROR(cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound")
    ERROR(cudaErrorSynchronizationError, "incorrect use of __syncthreads()")
    ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type")
    ERROR(cudaErrorInvalidNormSetting, "read as normalized float not supported for data type")
    ERROR(cudaErrorMixedDeviceExecution, "device emulation mode and device execution mode cannot be mixed")
    ERROR(cudaErrorNotYetImplemented, "feature not yet implemented")
    ERROR(cudaErrorMemoryValueTooLarge, "memory size or pointer value too large to fit in 32 bit")
    ERROR(cudaErrorStubLibrary, NULL)
    ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version")
    ERROR(cudaErrorCallRequiresNewerDriver, NULL)
    ERROR(cudaErrorInvalidSurface, "invalid surface reference")
    ERROR(cudaErrorDuplicateVariableName, "duplicate global variable looked up by string name")
    ERROR(cudaErrorDuplicateTextureName, "duplicate texture looked up by string name")
    ERROR(cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name")
    ERROR(cudaErrorDevicesUnavailable, NULL)
    ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context")
    ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured")
    ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch")
    ERROR(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches")
    ERROR(cudaErrorLaunchFileScopedTex, "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)")
    ERROR(cudaErrorLaunchFileScopedSurf, "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)")
    ERROR(cudaErrorSyncDepthExceeded, "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth")
    ERROR(cudaErrorLaunchPendingCountExceeded, "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount")
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function")
    ERROR(cudaErrorNoDevice, NULL)
    ERROR(cudaErrorInvalidDevice, NULL)
    ERROR(cudaErrorDeviceNotLicensed, NULL)
    ERROR(cudaErrorSoftwareValidityNotEstablished, "integrity checks failed")
    ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime")
    ERROR(cudaErrorInvalidKernelImage, NULL)
    ERROR(cudaErrorDeviceUninitialized, NULL)
    ERROR(cudaErrorMapBufferObjectFailed, NULL)
    ERROR(cudaErrorUnmapBufferObjectFailed, NULL)
    ERROR(cudaErrorArrayIsMapped, NULL)
    ERROR(cudaErrorAlreadyMapped, NULL)
    ERROR(cudaErrorNoKernelImageForDevice, NULL)
    ERROR(cudaErrorAlreadyAcquired, NULL)
    ERROR(cudaErrorNotMapped, NULL)
    ERROR(cudaErrorNotMappedAsArray, NULL)
    ERROR(cudaErrorNotMappedAsPointer, NULL)
    ERROR(cudaErrorECCUncorrectable, NULL)
    ERROR(cudaErrorUnsupportedLimit, NULL)
    ERROR(cudaErrorDeviceAlreadyInUse, NULL)
    ERROR(cudaErrorPeerAccessUnsupported, NULL)
    ERROR(cudaErrorInvalidPtx, NULL)
    ERROR(cudaErrorInvalidGraphicsContext, NULL)
    ERROR(cudaErrorNvlinkUncorrectable, NULL)
    ERROR(cudaErrorJitCompilerNotFound, NULL)
    ERROR(cudaErrorUnsupportedPtxVersion, NULL)
    ERROR(cudaErrorJitCompilationDisabled, NULL)
    ERROR(cudaErrorUnsupportedExecAffinity, NULL)
    ERROR(cudaErrorUnsupportedDevSideSync, NULL)
    ERROR(cudaErrorContained, NULL)
    ERROR(cudaErrorInvalidSource, NULL)
    ERROR(cudaErrorFileNotFound, NULL)
    ERROR(cudaErrorSharedObjectSymbolNotFound, NULL)
    ERROR(cudaErrorSharedObjectInitFailed, NULL)
    ERROR(cudaErrorOperatingSystem, NULL)
    ERROR(cudaErrorInvalidResourceHandle, NULL)
    ERROR(cudaErrorIllegalState, NULL)
    ERROR(cudaErrorLossyQuery, NULL)
    ERROR(cudaErrorSymbolNotFound, NULL)
    ERROR(cudaErrorNotReady, NULL)
    ERROR(cudaErrorIllegalAddress, NULL)
    ERROR(cudaErrorLaunchOutOfResources, NULL)
    ERROR(cudaErrorLaunchTimeout, NULL)
    ERROR(cudaErrorLaunchIncompatibleTexturing, NULL)
    ERROR(cudaErrorPeerAccessAlreadyEnabled, NULL)
    ERROR(cudaErrorPeerAccessNotEnabled, NULL)
    ERROR(cudaErrorSetOnActiveProcess, NULL)
    ERROR(cudaErrorContextIsDestroyed, NULL)
    ERROR(cudaErrorAssert, NULL)
    ERROR(cudaErrorTooManyPeers, NULL)
    ERROR(cudaErrorHostMemoryAlreadyRegistered, NULL)
    ERROR(cudaErrorHostMemoryNotRegistered, NULL)
    ERROR(cudaErrorHardwareStackError, NULL)
    ERROR(cudaErrorIllegalInstruction, NULL)
    ERROR(cudaErrorMisalignedAddress, NULL)
    ERROR(cudaErrorInvalidAddressSpace, NULL)
    ERROR(cudaErrorInvalidPc, NULL)
    ERROR(cudaErrorLaunchFailure, NULL)
    ERROR(cudaErrorCooperativeLaunchTooLarge, NULL)
    ERROR(cudaErrorTensorMemoryLeak, NULL)
    ERROR(cudaErrorNotPermitted, NULL)
    ERROR(cudaErrorNotSupported, NULL)
    ERROR(cudaErrorSystemNotReady, NULL)
    ERROR(cudaErrorSystemDriverMismatch, NULL)
    ERROR(cudaErrorCompatNotSupportedOnDevice, NULL)
    ERROR(cudaErrorMpsConnectionFailed, NULL)
    ERROR(cudaErrorMpsRpcFailure, NULL)
    ERROR(cudaErrorMpsServerNotReady, NULL)
    ERROR(cudaErrorMpsMaxClientsReached, NULL)
    ERROR(cudaErrorMpsMaxConnectionsReached, NULL)
    ERROR(cudaErrorMpsClientTerminated, NULL)
    ERROR(cudaErrorCdpNotSupported, NULL)
    ERROR(cudaErrorCdpVersionMismatch, NULL)
    ERROR(cudaErrorStreamCaptureUnsupported, NULL)
    ERROR(cudaErrorStreamCaptureInvalidated, NULL)
    ERROR(cudaErrorStreamCaptureMerge, NULL)
    ERROR(cudaErrorStreamCaptureUnmatched, NULL)
    ERROR(cudaErrorStreamCaptureUnjoined, NULL)
    ERROR(cudaErrorStreamCaptureIsolation, NULL)
    ERROR(cudaErrorStreamCaptureImplicit, NULL)
    ERROR(cudaErrorCapturedEvent, NULL)
    ERROR(cudaErrorStreamCaptureWrongThread, NULL)
    ERROR(cudaErrorTimeout, NULL)
    ERROR(cudaErrorGraphExecUpdateFailure, NULL)
    ERROR(cudaErrorExternalDevice, NULL)
    ERROR(cudaErrorInvalidClusterSize, NULL)
    ERROR(cudaErrorFunctionNotLoaded, NULL)
    ERROR(cudaErrorInvalidResourceType, NULL)
    ERROR(cudaErrorInvalidResourceConfiguration, NULL)
    ERROR(cudaErrorUnknown, NULL)
    /* clang-format on */
};

cudaError_t runtime_error(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

cudaError_t runtime_result(CUresult result)
{
    return runtime_error((cudaError_t)result);
}

cudaError_t runtime_unsupported(void)
{
    return runtime_error(cudaErrorNotSupported);
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

static size_t row_of(cudaError_t error)
{
    size_t row = 0;
    while (row < sizeof errors / sizeof *errors && errors[row].code != error)
        row++;
    return row;
}

const char *cudaGetErrorName(cudaError_t error)
{
    const size_t row = row_of(error);
    return row == sizeof errors / sizeof *errors ? "unrecognized error code" : errors[row].name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    const size_t row = row_of(error);
    const char *text = NULL;
    if (row == sizeof errors / sizeof *errors)
        return "unrecognized error code";
    if (errors[row].text != NULL)
        return errors[row].text;
    return DRIVER(cuGetErrorString)((CUresult)error, &text) == CUDA_SUCCESS && text != NULL
               ? text
               : errors[row].name;
}
