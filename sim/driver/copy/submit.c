/* Submitting copies to streams, and waiting where the call has to. */
#include "driver/context/context.h"
#include "driver/copy/copy.h"
#include "driver/memory/range.h"
#include "driver/stream/stream.h"

static bool is_pageable(uint64_t address, CUmemorytype type)
{
    struct sim_range range;
    return type == CU_MEMORYTYPE_HOST && !sim_range_find(address, &range);
}

CUresult sim_copy_submit(struct sim_copy *copy, CUstream hStream, bool per_thread, enum sim_copy_return when)
{
    struct sim_context *context;
    struct sim_stream *stream;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS) {
        sim_copy_clear(copy);
        return result;
    }
    struct sim_work work = {.kind = SIM_WORK_COPY, .copy = *copy};
    if (when == SIM_COPY_DONE)
        return sim_stream_submit_and_wait(stream, &work);
    const bool linear = copy->height == 1 && copy->depth == 1;
    const bool pageable_source = is_pageable(copy->source, copy->source_type);
    const bool pageable_destination = is_pageable(copy->destination, copy->destination_type);
    if (when == SIM_COPY_QUEUED && !sim_stream_is_capturing(stream)) {
        if (pageable_destination || (pageable_source && !linear))
            return sim_stream_submit_and_wait(stream, &work);
        if (pageable_source && !sim_copy_stage(&work.copy)) {
            sim_work_clear(&work);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return sim_stream_submit(stream, &work, NULL);
}

CUresult sim_copy_volume(const CUDA_MEMCPY3D *parameters, CUstream stream, bool per_thread,
                         enum sim_copy_return when)
{
    struct sim_context *context;
    struct sim_copy copy;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_copy_3d(parameters, &copy);
    return result == CUDA_SUCCESS ? sim_copy_submit(&copy, stream, per_thread, when) : result;
}
