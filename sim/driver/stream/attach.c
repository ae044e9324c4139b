/* Attaching managed memory to streams. The host may access memory at any time here, so attaching has no
 * effect beyond its checks. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/memory/range.h"
#include "driver/stream/stream.h"

/* The legacy stream, "a virtual global stream and not a specific stream" (manual), is refused as NULL but
 * accepted as CU_STREAM_LEGACY, as on an H200. */
static CUresult check(bool is_null, CUdeviceptr address, size_t length, unsigned flags)
{
    struct sim_range range;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_MEM_ATTACH_SINGLE && is_null)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_range_find(address, &range) || range.kind != SIM_MEMORY_MANAGED || range.begin != address)
        return CUDA_ERROR_INVALID_VALUE;
    return length == 0 || length == range.end - range.begin ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult attach(CUstream hStream, CUdeviceptr address, size_t length, unsigned flags, bool per_thread)
{
    struct sim_stream *stream;
    struct sim_work work = {.kind = SIM_WORK_NONE};
    CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_stream_is_capturing(stream)) {
        sim_capture_invalidate(stream);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    result = check(hStream == NULL && !per_thread, address, length, flags);
    return result == CUDA_SUCCESS ? sim_stream_submit(stream, &work, NULL) : result;
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    return attach(hStream, dptr, length, flags, false);
}

CUresult cuStreamAttachMemAsync_ptsz(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    return attach(hStream, dptr, length, flags, true);
}
