/* A driver that does nothing, so that only the shim is timed. */
#include <cuda.h>
#include <string.h>

#define NULL_EXPORT __attribute__((visibility("default")))

NULL_EXPORT CUresult cuInit(unsigned int flags)
{
    (void)flags;
    return CUDA_SUCCESS;
}

/* Passed through by the shim. */
NULL_EXPORT CUresult cuCtxGetFlags(unsigned int *flags)
{
    *flags = 0;
    return CUDA_SUCCESS;
}

/* Recorded by the shim. */
NULL_EXPORT CUresult cuStreamSynchronize(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

/* Recorded by the shim, and counted if repeated. */
NULL_EXPORT CUresult cuStreamQuery(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = (CUcontext)0x1000;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    (void)image;
    *module = (CUmodule)0x2000;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)module, (void)name;
    *function = (CUfunction)0x3000;
    return CUDA_SUCCESS;
}

/* The functions that --gpu-time calls. An event has always passed. */
NULL_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    (void)device;
    *context = (CUcontext)0x1000;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuCtxSynchronize(void)
{
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuCtxSetCurrent(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    (void)stream;
    return cuCtxGetCurrent(context);
}

NULL_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    (void)mode;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    (void)flags;
    *event = (CUevent)0x4000;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
    (void)event, (void)stream;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuEventQuery(CUevent event)
{
    (void)event;
    return CUDA_SUCCESS;
}

#undef cuEventElapsedTime
NULL_EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    (void)start, (void)end;
    *milliseconds = 0;
    return CUDA_SUCCESS;
}

/* Three parameters, like saxpy: two pointers and an int. */
NULL_EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    (void)function;
    if (index > 2)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = index * 8;
    *size = index < 2 ? 8 : 4;
    return CUDA_SUCCESS;
}

NULL_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                    unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                    unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                    void **kernelParams, void **extra)
{
    (void)f, (void)gridDimX, (void)gridDimY, (void)gridDimZ, (void)blockDimX, (void)blockDimY,
        (void)blockDimZ;
    (void)sharedMemBytes, (void)hStream, (void)kernelParams, (void)extra;
    return CUDA_SUCCESS;
}
