/* Streams and host functions. */
#include "runtime/cudart.h"

#include <stdlib.h>

FORWARD(cudaStreamCreateWithFlags, (cudaStream_t * pStream, unsigned int flags), cuStreamCreate, pStream,
        flags)
FORWARD(cudaStreamCreate, (cudaStream_t * pStream), cuStreamCreate, pStream, CU_STREAM_DEFAULT)
FORWARD(cudaStreamCreateWithPriority, (cudaStream_t * pStream, unsigned int flags, int priority),
        cuStreamCreateWithPriority, pStream, flags, priority)
FORWARD(cudaStreamDestroy, (cudaStream_t stream), cuStreamDestroy, stream)
FORWARD_STREAM(cudaStreamSynchronize, (cudaStream_t stream), cuStreamSynchronize, stream)
FORWARD_STREAM(cudaStreamQuery, (cudaStream_t stream), cuStreamQuery, stream)
FORWARD_STREAM(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
               cuStreamWaitEvent, stream, event, flags)
FORWARD_STREAM(cudaStreamGetPriority, (cudaStream_t stream, int *priority), cuStreamGetPriority, stream,
               priority)
FORWARD_STREAM(cudaStreamGetFlags, (cudaStream_t stream, unsigned int *flags), cuStreamGetFlags, stream,
               flags)
FORWARD_STREAM(cudaStreamGetId, (cudaStream_t stream, unsigned long long *streamId), cuStreamGetId, stream,
               streamId)
FORWARD_STREAM(cudaStreamGetDevice, (cudaStream_t stream, int *device), cuStreamGetDevice, stream, device)
FORWARD_STREAM(cudaStreamAttachMemAsync,
               (cudaStream_t stream, void *devPtr, size_t length, unsigned int flags), cuStreamAttachMemAsync,
               stream, (CUdeviceptr)devPtr, length, flags)
FORWARD_STREAM(cudaStreamGetAttribute,
               (cudaStream_t stream, cudaLaunchAttributeID attr, cudaLaunchAttributeValue *value_out),
               cuStreamGetAttribute, stream, (CUstreamAttrID)attr, (CUstreamAttrValue *)(void *)value_out)
FORWARD_STREAM(cudaStreamSetAttribute,
               (cudaStream_t stream, cudaLaunchAttributeID attr, const cudaLaunchAttributeValue *value),
               cuStreamSetAttribute, stream, (CUstreamAttrID)attr,
               (const CUstreamAttrValue *)(const void *)value)
FORWARD(cudaStreamCopyAttributes, (cudaStream_t dst, cudaStream_t src), cuStreamCopyAttributes, dst, src)
PER_THREAD(cudaStreamCopyAttributes_ptsz, (cudaStream_t dst, cudaStream_t src),
           cudaStreamCopyAttributes(runtime_per_thread(dst), runtime_per_thread(src)))
FORWARD(cudaCtxResetPersistingL2Cache, (void), cuCtxResetPersistingL2Cache)

FORWARD_STREAM(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t fn, void *userData), cuLaunchHostFunc,
               stream, fn, userData)

struct callback {
    cudaStreamCallback_t function;
    void *data;
};

/* A driver callback gets a CUresult, a runtime callback a cudaError_t. */
static void call_back(CUstream stream, CUresult status, void *data)
{
    const struct callback callback = *(struct callback *)data;
    free(data);
    callback.function(stream, (cudaError_t)status, callback.data);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                  unsigned int flags)
{
    READY();
    struct callback *kept = callback == NULL ? NULL : malloc(sizeof *kept);
    if (kept == NULL)
        return runtime_error(callback == NULL ? cudaErrorInvalidValue : cudaErrorMemoryAllocation);
    *kept = (struct callback){callback, userData};
    const CUresult result = DRIVER(cuStreamAddCallback)(stream, call_back, kept, flags);
    if (result != CUDA_SUCCESS)
        free(kept);
    return runtime_result(result);
}

PER_THREAD(cudaStreamAddCallback_ptsz,
           (cudaStream_t stream, cudaStreamCallback_t callback, void *userData, unsigned int flags),
           cudaStreamAddCallback(runtime_per_thread(stream), callback, userData, flags))
