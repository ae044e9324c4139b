/* Hooks of every launch function. Each launch is traced with its parameters. */
#include <cuda.h>

#include "core/probe/mailbox.h"
#include "core/process/call.h"
#include "cuda/trace/probed_launch.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static const struct nb_launch_under_way no_launch;

CUresult nb_wrap_launch(const struct nb_call *call, nb_cuLaunchKernel_t real, CUfunction f,
                        unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                        unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
    const struct nb_launch_form launch = {.function = f,
                                          .grid = {gridDimX, gridDimY, gridDimZ},
                                          .block = {blockDimX, blockDimY, blockDimZ},
                                          .shared_bytes = sharedMemBytes,
                                          .stream = hStream,
                                          .kernelParams = kernelParams,
                                          .extra = extra};
    struct nb_probed_launch *probed = nb_probing() ? nb_probe_begin(call, &launch) : NULL;
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    if (probed != NULL)
        probed->result = real(probed->function, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                              sharedMemBytes, hStream, probed->parameters, probed->extra);
    const bool is_probed = nb_launch_was_probed(under_way, probed);
    const CUresult result =
        nb_launch_end(call, under_way,
                      is_probed ? CUDA_SUCCESS
                                : real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                                       sharedMemBytes, hStream, kernelParams, extra));
    if (probed != NULL)
        nb_probe_end(call, probed, result);
    return result;
}

CUresult nb_wrap_launch_ex(const struct nb_call *call, nb_cuLaunchKernelEx_t real,
                           const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    if (config == NULL)
        return nb_launch_end(call, no_launch, real(config, f, kernelParams, extra));
    const struct nb_launch_form launch = {.function = f,
                                          .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                          .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                          .shared_bytes = config->sharedMemBytes,
                                          .stream = config->hStream,
                                          .attributes = config->attrs,
                                          .attribute_count = config->attrs != NULL ? config->numAttrs : 0,
                                          .kernelParams = kernelParams,
                                          .extra = extra};
    struct nb_probed_launch *probed = nb_probing() ? nb_probe_begin(call, &launch) : NULL;
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    if (probed != NULL)
        probed->result = real(config, probed->function, probed->parameters, probed->extra);
    const bool is_probed = nb_launch_was_probed(under_way, probed);
    const CUresult result =
        nb_launch_end(call, under_way, is_probed ? CUDA_SUCCESS : real(config, f, kernelParams, extra));
    if (probed != NULL)
        nb_probe_end(call, probed, result);
    return result;
}

CUresult nb_wrap_launch_cooperative(const struct nb_call *call, nb_cuLaunchCooperativeKernel_t real,
                                    CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                    unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                    unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                    void **kernelParams)
{
    const struct nb_launch_form launch = {.function = f,
                                          .grid = {gridDimX, gridDimY, gridDimZ},
                                          .block = {blockDimX, blockDimY, blockDimZ},
                                          .shared_bytes = sharedMemBytes,
                                          .stream = hStream,
                                          .flags = NB_LAUNCH_COOPERATIVE,
                                          .kernelParams = kernelParams};
    struct nb_probed_launch *probed = nb_probing() ? nb_probe_begin(call, &launch) : NULL;
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    if (probed != NULL)
        probed->result = real(probed->function, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                              sharedMemBytes, hStream, probed->parameters);
    const bool is_probed = nb_launch_was_probed(under_way, probed);
    const CUresult result =
        nb_launch_end(call, under_way,
                      is_probed ? CUDA_SUCCESS
                                : real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                                       sharedMemBytes, hStream, kernelParams));
    if (probed != NULL)
        nb_probe_end(call, probed, result);
    return result;
}

static struct nb_launch_form make_form(const CUDA_LAUNCH_PARAMS *one)
{
    return (struct nb_launch_form){.function = one->function,
                                   .grid = {one->gridDimX, one->gridDimY, one->gridDimZ},
                                   .block = {one->blockDimX, one->blockDimY, one->blockDimZ},
                                   .shared_bytes = one->sharedMemBytes,
                                   .stream = one->hStream,
                                   .flags = NB_LAUNCH_COOPERATIVE,
                                   .kernelParams = one->kernelParams,
                                   .problem = "launches kernels on several devices that wait for each other"};
}

CUresult nb_wrap_launch_multi(const struct nb_call *call, nb_cuLaunchCooperativeKernelMultiDevice_t real,
                              CUDA_LAUNCH_PARAMS *launchParamsList, unsigned int numDevices,
                              unsigned int flags)
{
    const unsigned int count = call->thread != NULL && launchParamsList != NULL ? numDevices : 0;
    struct nb_launch_under_way under_way = no_launch;
    if (count > 0) {
        const struct nb_launch_form first = make_form(launchParamsList);
        under_way = nb_launch_several_begin(call, &first);
    }
    const CUresult result = real(launchParamsList, numDevices, flags);
    const unsigned int traced =
        result == CUDA_SUCCESS || count == 0 ? count : 1; /* a refused list may be invalid */
    for (unsigned int i = 0; i < traced; i++) {
        const struct nb_launch_form launch = make_form(&launchParamsList[i]);
        nb_launch_several_add(call, &launch, result);
    }
    return nb_launch_end(call, under_way, result);
}

/* The launch calls of CUDA 3 (cuFuncSetBlockShape, cuParamSet*): block shape, shared memory and parameters
 * are state of the function, which the driver does not return. They are recorded as 0. */
static struct nb_launch_under_way begin_legacy(const struct nb_call *call, CUfunction f, int width,
                                               int height, CUstream stream)
{
    const struct nb_launch_form launch = {
        .function = f,
        .grid = {(unsigned int)width, (unsigned int)height, 1},
        .stream = stream,
        .problem = "launches with parameters set by cuParamSet, which the driver does not return"};
    return nb_launch_begin(call, &launch);
}

CUresult nb_wrap_launch_legacy(const struct nb_call *call, nb_cuLaunch_t real, CUfunction f)
{
    const struct nb_launch_under_way under_way = begin_legacy(call, f, 1, 1, NULL);
    return nb_launch_end(call, under_way, real(f));
}

CUresult nb_wrap_launch_grid(const struct nb_call *call, nb_cuLaunchGrid_t real, CUfunction f, int grid_width,
                             int grid_height)
{
    const struct nb_launch_under_way under_way = begin_legacy(call, f, grid_width, grid_height, NULL);
    return nb_launch_end(call, under_way, real(f, grid_width, grid_height));
}

CUresult nb_wrap_launch_grid_async(const struct nb_call *call, nb_cuLaunchGridAsync_t real, CUfunction f,
                                   int grid_width, int grid_height, CUstream hStream)
{
    const struct nb_launch_under_way under_way = begin_legacy(call, f, grid_width, grid_height, hStream);
    return nb_launch_end(call, under_way, real(f, grid_width, grid_height, hStream));
}
