/* The launch calls of CUDA 3 and before: one call each sets block shape, shared memory and parameters of a
 * function. Not thread-safe, as documented. */
#include "driver/code/launch.h"
#include "driver/code/launch_request.h"
#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#define PARAMETERS_MAX 4096u

struct sim_legacy_launch {
    uint32_t block[3];
    uint32_t shared_bytes;
    size_t parameter_bytes;
    unsigned char parameters[PARAMETERS_MAX];
};

static CUresult find(CUfunction handle, struct sim_legacy_launch **legacy)
{
    struct sim_context *context;
    struct sim_function *function;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_function_resolve(context, handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (function->legacy == NULL) {
        function->legacy = calloc(1, sizeof(*function->legacy));
        if (function->legacy == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        for (size_t i = 0; i < 3; i++)
            function->legacy->block[i] = 1;
    }
    *legacy = function->legacy;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
    struct sim_legacy_launch *legacy;
    const CUresult result = find(hfunc, &legacy);
    if (result != CUDA_SUCCESS)
        return result;
    if (x <= 0 || y <= 0 || z <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    legacy->block[0] = (uint32_t)x;
    legacy->block[1] = (uint32_t)y;
    legacy->block[2] = (uint32_t)z;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
    struct sim_legacy_launch *legacy;
    const CUresult result = find(hfunc, &legacy);
    if (result == CUDA_SUCCESS)
        legacy->shared_bytes = bytes;
    return result;
}

CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
    struct sim_legacy_launch *legacy;
    const CUresult result = find(hfunc, &legacy);
    if (result != CUDA_SUCCESS)
        return result;
    if (numbytes > PARAMETERS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    legacy->parameter_bytes = numbytes;
    return CUDA_SUCCESS;
}

static CUresult set_parameter(CUfunction hfunc, int offset, const void *value, size_t bytes)
{
    struct sim_legacy_launch *legacy;
    const CUresult result = find(hfunc, &legacy);
    if (result != CUDA_SUCCESS)
        return result;
    if (value == NULL || offset < 0 || (size_t)offset > PARAMETERS_MAX ||
        bytes > PARAMETERS_MAX - (size_t)offset)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(legacy->parameters + offset, value, bytes);
    return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value)
{
    return set_parameter(hfunc, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction hfunc, int offset, float value)
{
    return set_parameter(hfunc, offset, &value, sizeof value);
}

CUresult cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes)
{
    return set_parameter(hfunc, offset, ptr, numbytes);
}

static CUresult launch(CUfunction f, int width, int height, CUstream hStream)
{
    struct sim_context *context;
    struct sim_stream *stream;
    struct sim_legacy_launch *legacy;
    struct sim_work work;
    CUresult result = find(f, &legacy);
    if (result == CUDA_SUCCESS)
        result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, false, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (width <= 0 || height <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, legacy->parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &legacy->parameter_bytes, CU_LAUNCH_PARAM_END};
    const struct sim_launch_request request = {
        .function = f,
        .grid = {(uint32_t)width, (uint32_t)height, 1},
        .block = {legacy->block[0], legacy->block[1], legacy->block[2]},
        .shared_bytes = legacy->shared_bytes,
        .extra = extra};
    result = sim_launch_prepare(context, &request, &work);
    return result == CUDA_SUCCESS ? sim_stream_submit(stream, &work, NULL) : result;
}

CUresult cuLaunch(CUfunction f)
{
    return launch(f, 1, 1, NULL);
}

CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height)
{
    return launch(f, grid_width, grid_height, NULL);
}

CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream)
{
    return launch(f, grid_width, grid_height, hStream);
}
