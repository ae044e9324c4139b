#include "driver/code/launch.h"

#include "driver/capture/capture.h"
#include "driver/code/launch_request.h"
#include "driver/code/module.h"
#include "driver/code/occupancy.h"
#include "driver/context/context.h"
#include "driver/core/message.h"
#include "driver/device/device.h"
#include "driver/device/model.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <string.h>

static CUresult check_shape(const struct sim_launch_request *request, const struct sim_function *function)
{
    static const uint32_t grid_most[3] = {SIM_GRID_X, SIM_GRID_YZ, SIM_GRID_YZ};
    static const uint32_t block_most[3] = {SIM_BLOCK_THREADS, SIM_BLOCK_THREADS, SIM_BLOCK_Z};
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(function->ptx, &known);
    for (size_t i = 0; i < 3; i++)
        if (request->grid[i] == 0 || request->grid[i] > grid_most[i] || request->block[i] == 0 ||
            request->block[i] > block_most[i])
            return CUDA_ERROR_INVALID_VALUE;
    const uint32_t threads = request->block[0] * request->block[1] * request->block[2];
    if (threads > SIM_BLOCK_THREADS || threads > known.max_threads)
        return CUDA_ERROR_INVALID_VALUE;
    if (known.required[0] != 0 && memcmp(known.required, request->block, sizeof known.required) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (request->shared_bytes > (uint32_t)atomic_load(&function->settings->max_dynamic_shared))
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = sim_cluster_check(request, function);
    if (result != CUDA_SUCCESS)
        return result;
    if (request->cooperative) {
        const uint64_t blocks = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
        const int held = sim_occupancy(function, threads, request->shared_bytes);
        if (blocks > (uint64_t)held * (uint64_t)sim_model()->multiprocessors)
            return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return CUDA_SUCCESS;
}

/* `extra` is a list of tags, each with a value, up to CU_LAUNCH_PARAM_END. A buffer with fewer bytes than
 * the kernel's parameters is accepted, as on an H200; the rest is 0. */
static CUresult packed_parameters(void **extra, const void **buffer, size_t *bytes)
{
    *buffer = NULL;
    *bytes = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = extra[i + 1] == NULL ? 0 : *(const size_t *)extra[i + 1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return *bytes != 0 && *buffer == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult copy_parameters(const struct sim_launch_request *request, const struct ptx_kernel *kernel,
                                unsigned char *to)
{
    const size_t total = ptx_kernel_parameter_bytes(kernel);
    if (request->extra != NULL) {
        const void *buffer;
        size_t bytes;
        const CUresult result = packed_parameters(request->extra, &buffer, &bytes);
        if (result != CUDA_SUCCESS)
            return result;
        if (bytes > total)
            return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
        if (bytes == 0 && total != 0)
            return CUDA_ERROR_INVALID_VALUE;
        if (bytes != 0)
            memcpy(to, buffer, bytes);
        return CUDA_SUCCESS;
    }
    const size_t count = ptx_kernel_parameter_count(kernel);
    for (size_t i = 0; i < count; i++) {
        size_t offset;
        size_t bytes;
        if (request->parameters == NULL || request->parameters[i] == NULL)
            return CUDA_ERROR_INVALID_VALUE;
        ptx_kernel_parameter(kernel, i, &offset, &bytes);
        memcpy(to + offset, request->parameters[i], bytes);
    }
    return CUDA_SUCCESS;
}

/* A kernel with an unsupported instruction is loaded, except with SIM_UNSUPPORTED=load. */
static CUresult check_support(struct sim_function *function)
{
    const char *refusal = ptx_kernel_refusal(function->ptx);
    if (refusal == NULL)
        return CUDA_SUCCESS;
    if (!atomic_flag_test_and_set(&function->explained))
        sim_print("kernel %.256s cannot run: %s", ptx_kernel_name(function->ptx), refusal);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_launch_prepare(struct sim_context *context, const struct sim_launch_request *request,
                            struct sim_work *work)
{
    struct sim_function *function;
    CUresult result = sim_function_resolve(context, request->function, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (request->parameters != NULL && request->extra != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_support(function);
    if (result == CUDA_SUCCESS)
        result = check_shape(request, function);
    if (result != CUDA_SUCCESS)
        return result;
    unsigned char *parameters = calloc(1, ptx_kernel_parameter_bytes(function->ptx) + 1);
    if (parameters == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = copy_parameters(request, function->ptx, parameters);
    if (result != CUDA_SUCCESS) {
        free(parameters);
        return result;
    }
    sim_object_retain(function->module);
    *work = (struct sim_work){.kind = SIM_WORK_LAUNCH,
                              .launch = {.function = function,
                                         .grid = {request->grid[0], request->grid[1], request->grid[2]},
                                         .block = {request->block[0], request->block[1], request->block[2]},
                                         .shared_bytes = request->shared_bytes,
                                         .cooperative = request->cooperative,
                                         .parameters = parameters}};
    return CUDA_SUCCESS;
}

static CUresult launch(const struct sim_launch_request *request, CUstream hStream, bool per_thread)
{
    struct sim_context *context;
    struct sim_stream *stream;
    struct sim_work work;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = sim_launch_prepare(context, request, &work);
    if (result == CUDA_SUCCESS)
        return sim_stream_submit(stream, &work, NULL);
    sim_capture_invalidate(stream); /* a graph must not lack a launch that failed */
    return result;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                        unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
    const struct sim_launch_request request = {.function = f,
                                               .grid = {gridDimX, gridDimY, gridDimZ},
                                               .block = {blockDimX, blockDimY, blockDimZ},
                                               .shared_bytes = sharedMemBytes,
                                               .parameters = kernelParams,
                                               .extra = extra};
    return launch(&request, hStream, false);
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                             unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                             unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                             void **kernelParams, void **extra)
{
    const struct sim_launch_request request = {.function = f,
                                               .grid = {gridDimX, gridDimY, gridDimZ},
                                               .block = {blockDimX, blockDimY, blockDimZ},
                                               .shared_bytes = sharedMemBytes,
                                               .parameters = kernelParams,
                                               .extra = extra};
    return launch(&request, hStream, true);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                   unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                   void **kernelParams)
{
    const struct sim_launch_request request = {.function = f,
                                               .grid = {gridDimX, gridDimY, gridDimZ},
                                               .block = {blockDimX, blockDimY, blockDimZ},
                                               .shared_bytes = sharedMemBytes,
                                               .cooperative = true,
                                               .parameters = kernelParams};
    return launch(&request, hStream, false);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                        void **kernelParams)
{
    const struct sim_launch_request request = {.function = f,
                                               .grid = {gridDimX, gridDimY, gridDimZ},
                                               .block = {blockDimX, blockDimY, blockDimZ},
                                               .shared_bytes = sharedMemBytes,
                                               .cooperative = true,
                                               .parameters = kernelParams};
    return launch(&request, hStream, true);
}

static CUresult launch_config(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra,
                              bool per_thread)
{
    struct sim_launch_request request;
    const CUresult result = sim_launch_configure(config, &request);
    if (result != CUDA_SUCCESS)
        return result;
    request.function = f;
    request.parameters = kernelParams;
    request.extra = extra;
    return launch(&request, config->hStream, per_thread);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    return launch_config(config, f, kernelParams, extra, false);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    return launch_config(config, f, kernelParams, extra, true);
}
