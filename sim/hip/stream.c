/* Stream functions that have no CUDA function of the same parameters. */
#include "hip/hip.h"

_Static_assert(hipStreamNonBlocking == CU_STREAM_NON_BLOCKING &&
                   hipStreamWaitValueGte == CU_STREAM_WAIT_VALUE_GEQ &&
                   hipStreamWaitValueEq == CU_STREAM_WAIT_VALUE_EQ &&
                   hipStreamWaitValueAnd == CU_STREAM_WAIT_VALUE_AND &&
                   hipStreamWaitValueNor == CU_STREAM_WAIT_VALUE_NOR,
               "numbers are handed on as they are");

/* Both result types have the same numbers. */
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *userData,
                                unsigned int flags)
{
    return hip_result(cudaStreamAddCallback((CUstream)stream, (cudaStreamCallback_t)(void (*)(void))callback,
                                            userData, flags));
}

/* Compute unit masks change no result: kernels run on all units, and queries report all. */
hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t cuMaskSize, const uint32_t *cuMask)
{
    return cuMaskSize == 0 || cuMask == NULL ? hipErrorInvalidValue : hipStreamCreate(stream);
}

hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t cuMaskSize, uint32_t *cuMask)
{
    int units;
    unsigned flags;
    if (cuMaskSize == 0 || cuMask == NULL)
        return hipErrorInvalidValue;
    hipError_t error = hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0);
    if (error == hipSuccess)
        error = hipStreamGetFlags(stream, &flags); /* the stream exists */
    if (error == hipSuccess && cuMaskSize < ((uint32_t)units + 31) / 32)
        error = hipErrorInvalidValue;
    for (uint32_t i = 0; i < cuMaskSize && error == hipSuccess; i++) {
        const int left = units - (int)(32 * i);
        cuMask[i] = left >= 32 ? UINT32_MAX : left > 0 ? (1u << left) - 1 : 0;
    }
    return error;
}

/* CUDA's waits have no mask. A full mask can be left out, and so can one of bits that are waited for. */
static hipError_t without_mask(unsigned flags, uint64_t full, uint64_t mask, uint64_t *value)
{
    if (flags == hipStreamWaitValueAnd)
        *value &= mask;
    else if (mask != full)
        return hip_not_supported("a wait for some bits of a value");
    return hipSuccess;
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags,
                                uint32_t mask)
{
    uint64_t wanted = value;
    HIP_READY();
    const hipError_t error = without_mask(flags, UINT32_MAX, mask, &wanted);
    return error == hipSuccess
               ? hip_result(cuStreamWaitValue32((CUstream)stream, hip_address(ptr), (uint32_t)wanted, flags))
               : error;
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags,
                                uint64_t mask)
{
    HIP_READY();
    const hipError_t error = without_mask(flags, UINT64_MAX, mask, &value);
    return error == hipSuccess
               ? hip_result(cuStreamWaitValue64((CUstream)stream, hip_address(ptr), value, flags))
               : error;
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags)
{
    HIP_READY();
    return hip_result(cuStreamWriteValue32((CUstream)stream, hip_address(ptr), value, flags));
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags)
{
    HIP_READY();
    return hip_result(cuStreamWriteValue64((CUstream)stream, hip_address(ptr), value, flags));
}

/* The graph of a stream capture. CUDA's functions also return edge data. */
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
                                      unsigned long long *id_out, hipGraph_t *graph_out,
                                      const hipGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return hip_result(cudaStreamGetCaptureInfo(
        (CUstream)stream, (enum cudaStreamCaptureStatus *)captureStatus_out, id_out, (CUgraph *)graph_out,
        (const CUgraphNode **)dependencies_out, NULL, numDependencies_out));
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
                                   unsigned long long *pId)
{
    return hipStreamGetCaptureInfo_v2(stream, pCaptureStatus, pId, NULL, NULL, NULL);
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies,
                                              size_t numDependencies, unsigned int flags)
{
    return hip_result(cudaStreamUpdateCaptureDependencies((CUstream)stream, (CUgraphNode *)dependencies, NULL,
                                                          numDependencies, flags));
}
