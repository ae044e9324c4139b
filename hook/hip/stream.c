/* Streams: where the host waits for them, and which are captured; as cuStreamSynchronize and the like. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "call.h"
#include "real.h"
#include "same.h"
#include "special.h"
#include "surface.h"

hipError_t nb_through_hip_device_wait(const struct nb_call *call, nb_hipDeviceSynchronize_t real)
{
    return (hipError_t)nb_through_context_wait(call, NB_SAME(cuCtxSynchronize, real));
}

hipError_t nb_through_hip_stream_wait(const struct nb_call *call, nb_hipStreamQuery_t real,
                                      hipStream_t stream)
{
    return (hipError_t)nb_through_stream_wait(call, NB_SAME(cuStreamQuery, real), (CUstream)stream);
}

hipError_t nb_through_hip_stream_wait_event(const struct nb_call *call, nb_hipStreamWaitEvent_t real,
                                            hipStream_t stream, hipEvent_t event, unsigned int flags)
{
    return (hipError_t)nb_through_stream_wait_event(call, NB_SAME(cuStreamWaitEvent, real), (CUstream)stream,
                                                    (CUevent)event, flags);
}

hipError_t nb_through_hip_stream_destroy(const struct nb_call *call, nb_hipStreamDestroy_t real,
                                         hipStream_t stream)
{
    return (hipError_t)nb_through_stream_destroy(call, NB_SAME(cuStreamDestroy, real), (CUstream)stream);
}

void nb_after_hip_begin_capture(const struct nb_call *call, hipError_t result, hipStream_t stream,
                                hipStreamCaptureMode mode)
{
    nb_after_begin_capture_mode(call, (CUresult)result, (CUstream)stream, (CUstreamCaptureMode)mode);
}
