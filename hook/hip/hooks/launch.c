/* Launches by host stub, and launches of modules that have no CUDA counterpart. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "cuda/trace/probed_launch.h"
#include "hip/driver/hip.h"
#include "hip/hooks/same.h"
#include "hip/hooks/unprobed.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static const struct nb_launch_under_way no_launch;

static const char *const records_events =
    "launches a kernel that records events as it begins or ends (hipExtLaunch), which is not recorded";
static const char *const in_any_order =
    "launches a kernel that need not wait for those before it (hipExtAnyOrderLaunch), which is not recorded";

/* Why a hipExt launch cannot be replayed; `otherwise` if its own parameters do not prevent it. */
static const char *reason_of(hipEvent_t start, hipEvent_t stop, unsigned int flags, const char *otherwise)
{
    if (start != NULL || stop != NULL)
        return records_events;
    return (flags & hipExtAnyOrderLaunch) != 0 ? in_any_order : otherwise;
}

/* ---- kernels of modules -------------------------------------------------------------------------------- */

/* Grid sizes are in threads. The last block along an axis may be partial, which no other launch function
 * supports. */
struct size {
    unsigned int blocks;
    bool is_whole;
};

static struct size blocks_of(uint32_t threads, uint32_t block)
{
    if (block == 0)
        return (struct size){0, true}; /* the library refuses a block of 0 threads */
    return (struct size){threads / block + (threads % block != 0), threads % block == 0};
}

static struct nb_launch_form form_of_threads(hipFunction_t function, const uint32_t *threads,
                                             const uint32_t *block, size_t shared_bytes, hipStream_t stream,
                                             void **parameters, void **extra)
{
    struct nb_launch_form launch = {.function = (CUfunction)function,
                                    .block = {block[0], block[1], block[2]},
                                    .shared_bytes = (unsigned int)shared_bytes,
                                    .stream = (CUstream)stream,
                                    .kernelParams = parameters,
                                    .extra = extra};
    for (int axis = 0; axis < 3; axis++) {
        const struct size size = blocks_of(threads[axis], block[axis]);
        launch.grid[axis] = size.blocks;
        if (!size.is_whole)
            launch.problem = "launches a grid whose last block is a part of one (hipExtModuleLaunchKernel)";
    }
    return launch;
}

hipError_t nb_wrap_hip_module_launch_threads(
    const struct nb_call *call,
    nb__Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j_t real,
    hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
    uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
    hipStream_t hStream, void **kernelParams, void **extra, hipEvent_t startEvent, hipEvent_t stopEvent,
    uint32_t flags)
{
    const uint32_t threads[] = {globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ};
    const uint32_t block[] = {localWorkSizeX, localWorkSizeY, localWorkSizeZ};
    struct nb_launch_form launch =
        form_of_threads(f, threads, block, sharedMemBytes, hStream, kernelParams, extra);
    launch.problem = reason_of(startEvent, stopEvent, (unsigned)flags, launch.problem);
    nb_hip_skip_probe(call, &launch);
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    return (hipError_t)nb_launch_end(call, under_way,
                                     (CUresult)real(f, globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ,
                                                    localWorkSizeX, localWorkSizeY, localWorkSizeZ,
                                                    sharedMemBytes, hStream, kernelParams, extra, startEvent,
                                                    stopEvent, flags));
}

hipError_t nb_wrap_hip_module_launch_hcc(
    const struct nb_call *call,
    nb__Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6__t real,
    hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
    uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
    hipStream_t hStream, void **kernelParams, void **extra, hipEvent_t startEvent, hipEvent_t stopEvent)
{
    const uint32_t threads[] = {globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ};
    const uint32_t block[] = {localWorkSizeX, localWorkSizeY, localWorkSizeZ};
    struct nb_launch_form launch =
        form_of_threads(f, threads, block, sharedMemBytes, hStream, kernelParams, extra);
    if (startEvent != NULL || stopEvent != NULL)
        launch.problem = records_events;
    nb_hip_skip_probe(call, &launch);
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    return (hipError_t)nb_launch_end(
        call, under_way,
        (CUresult)real(f, globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ, localWorkSizeX, localWorkSizeY,
                       localWorkSizeZ, sharedMemBytes, hStream, kernelParams, extra, startEvent, stopEvent));
}

/* ---- linked-in kernels, by their stubs ----------------------------------------------------------------- */

static inline struct nb_launch_form form_of_stub(const void *stub, dim3 grid, dim3 block, void **parameters,
                                                 size_t shared_bytes, hipStream_t stream)
{
    return (struct nb_launch_form){.function = (CUfunction)(uintptr_t)stub,
                                   .grid = {grid.x, grid.y, grid.z},
                                   .block = {block.x, block.y, block.z},
                                   .shared_bytes = (unsigned int)shared_bytes,
                                   .stream = (CUstream)stream,
                                   .kernelParams = parameters};
}

/* The engine's kernel has no stub: it is a function of a module. A stream 0 is the thread's own in _spt
 * forms. */
static CUresult launch_in_place(const struct nb_call *call, const struct nb_launch_form *launch,
                                const struct nb_probed_launch *probed)
{
    return nb_hip_result(HIP(hipModuleLaunchKernel)(
        (hipFunction_t)probed->function, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
        launch->block[1], launch->block[2], launch->shared_bytes,
        nb_hip_stream(nb_stream_resolve(call, launch->stream)), probed->parameters, NULL));
}

hipError_t nb_wrap_hip_launch(const struct nb_call *call, nb_hipLaunchKernel_t real,
                              const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
                              size_t sharedMemBytes, hipStream_t stream)
{
    const struct nb_launch_form launch =
        form_of_stub(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream);
    struct nb_probed_launch *probed = nb_probing() ? nb_probe_begin(call, &launch) : NULL;
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    if (probed != NULL)
        probed->result = launch_in_place(call, &launch, probed);
    const bool is_probed = nb_launch_was_probed(under_way, probed);
    const CUresult result = nb_launch_end(
        call, under_way,
        is_probed ? CUDA_SUCCESS
                  : (CUresult)real(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream));
    if (probed != NULL)
        nb_probe_end(call, probed, result);
    return (hipError_t)result;
}

hipError_t nb_wrap_hip_launch_ext(const struct nb_call *call, nb_hipExtLaunchKernel_t real,
                                  const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
                                  size_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent,
                                  hipEvent_t stopEvent, int flags)
{
    struct nb_launch_form launch =
        form_of_stub(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream);
    launch.problem = reason_of(startEvent, stopEvent, (unsigned)flags, launch.problem);
    nb_hip_skip_probe(call, &launch);
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    return (hipError_t)nb_launch_end(call, under_way,
                                     (CUresult)real(function_address, numBlocks, dimBlocks, args,
                                                    sharedMemBytes, stream, startEvent, stopEvent, flags));
}

/* HIP has this function since 7.0. */
hipError_t nb_wrap_hip_launch_ex(const struct nb_call *call, nb_hipLaunchKernelExC_t real,
                                 const hipLaunchConfig_t *config, const void *fPtr, void **args)
{
    if (config == NULL)
        return (hipError_t)nb_launch_end(call, no_launch, (CUresult)real(config, fPtr, args));
    struct nb_launch_form launch =
        form_of_stub(fPtr, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream);
    launch.attributes = (const CUlaunchAttribute *)config->attrs;
    launch.attribute_count = config->attrs != NULL ? config->numAttrs : 0;
    nb_hip_skip_probe(call, &launch);
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    return (hipError_t)nb_launch_end(call, under_way, (CUresult)real(config, fPtr, args));
}

hipError_t nb_wrap_hip_launch_cooperative(const struct nb_call *call, nb_hipLaunchCooperativeKernel_t real,
                                          const void *f, dim3 gridDim, dim3 blockDimX, void **kernelParams,
                                          unsigned int sharedMemBytes, hipStream_t stream)
{
    struct nb_launch_form launch = form_of_stub(f, gridDim, blockDimX, kernelParams, sharedMemBytes, stream);
    launch.flags = NB_LAUNCH_COOPERATIVE;
    nb_hip_skip_probe(call, &launch);
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    return (hipError_t)nb_launch_end(
        call, under_way, (CUresult)real(f, gridDim, blockDimX, kernelParams, sharedMemBytes, stream));
}

/* C++ references are pointers here, and the parameters are packed. */
void nb_wrap_hip_launch_packed(const struct nb_call *call,
                               nb__ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv_t real,
                               uintptr_t function_address, const dim3 *numBlocks, const dim3 *dimBlocks,
                               uint32_t sharedMemBytes, hipStream_t stream, void **kernarg)
{
    struct nb_launch_form launch =
        form_of_stub((const void *)function_address, *numBlocks, *dimBlocks, NULL, sharedMemBytes, stream);
    launch.extra = kernarg;
    nb_hip_skip_probe(call, &launch);
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    real(function_address, numBlocks, dimBlocks, sharedMemBytes, stream, kernarg);
    nb_launch_end(call, under_way, CUDA_SUCCESS);
}

/* ---- several devices ----------------------------------------------------------------------------------- */

static struct nb_launch_form form_of_one(const struct nb_call *call, const hipLaunchParams *one)
{
    struct nb_launch_form launch =
        form_of_stub(one->func, one->gridDim, one->blockDim, one->args, one->sharedMem, one->stream);
    if (call->slot == NB_SLOT_hipLaunchCooperativeKernelMultiDevice)
        launch.flags = NB_LAUNCH_COOPERATIVE;
    launch.problem = "launches kernels on several devices, and a replay has one";
    return launch;
}

hipError_t nb_wrap_hip_launch_multi(const struct nb_call *call,
                                    nb_hipLaunchCooperativeKernelMultiDevice_t real,
                                    hipLaunchParams *launchParamsList, int numDevices, unsigned int flags)
{
    const int count = call->thread != NULL && launchParamsList != NULL ? numDevices : 0;
    struct nb_launch_under_way under_way = no_launch;
    if (count > 0) {
        const struct nb_launch_form first = form_of_one(call, launchParamsList);
        under_way = nb_launch_several_begin(call, &first);
    }
    const hipError_t result = real(launchParamsList, numDevices, flags);
    const int checked = result == hipSuccess || count == 0 ? count : 1; /* a refused list may be invalid */
    for (int i = 0; i < checked; i++) {
        const struct nb_launch_form launch = form_of_one(call, &launchParamsList[i]);
        nb_launch_several_add(call, &launch, (CUresult)result);
    }
    return (hipError_t)nb_launch_end(call, under_way, (CUresult)result);
}
