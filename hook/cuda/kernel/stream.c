#include "cuda/kernel/stream.h"

#include "core/driver/slots.h"
#include "real.h"
#include "special.h"
#include "surface.h"

atomic_bool nb_stream_capture_was_used;

CUstream nb_stream_resolve(const struct nb_call *call, CUstream stream)
{
    if (stream != NULL)
        return stream;
    return nb_export_is_per_thread(call->slot) ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

uint64_t nb_stream_query_number(CUstream stream)
{
    unsigned long long number = 0;
    if (stream == CU_STREAM_LEGACY)
        return UINT64_MAX;
    return NB_HAS(cuStreamGetId) && NB_REAL(cuStreamGetId)(stream, &number) == CUDA_SUCCESS ? number : 0;
}

bool nb_stream_query_captured(const struct nb_call *call, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return NB_REAL(cuStreamIsCapturing)(nb_stream_resolve(call, stream), &status) == CUDA_SUCCESS &&
           status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void nb_post_begin_capture(const struct nb_call *call, CUresult result, CUstream hStream)
{
    (void)call, (void)result, (void)hStream;
    atomic_store_explicit(&nb_stream_capture_was_used, 1, memory_order_relaxed);
}

void nb_post_begin_capture_mode(const struct nb_call *call, CUresult result, CUstream hStream,
                                CUstreamCaptureMode mode)
{
    (void)mode;
    nb_post_begin_capture(call, result, hStream);
}

void nb_post_begin_capture_to_graph(const struct nb_call *call, CUresult result, CUstream hStream,
                                    CUgraph hGraph, const CUgraphNode *dependencies,
                                    const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                    CUstreamCaptureMode mode)
{
    (void)hGraph, (void)dependencies, (void)dependencyData, (void)numDependencies, (void)mode;
    nb_post_begin_capture(call, result, hStream);
}
