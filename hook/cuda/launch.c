/* Every way to launch a kernel, each recorded with its parameters. */
#include <cuda.h>

#include "call.h"
#include "function.h"
#include "handle.h"
#include "launch.h"
#include "parameters.h"
#include "real.h"
#include "region.h"
#include "special.h"
#include "stream.h"
#include "surface.h"

NB_ALWAYS_INLINE uint32_t launch_flags(const struct nb_call *call, const struct nb_launch_form *launch)
{
    uint32_t flags = launch->flags;
    if (launch->kernelParams == NULL && launch->extra != NULL)
        flags |= NB_LAUNCH_EXTRA;
    if (launch->attribute_count > NB_ATTRIBUTES_MAX)
        flags |= NB_LAUNCH_ATTRIBUTES_CUT;
    for (unsigned int i = 0; i < launch->attribute_count; i++)
        if (launch->attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
            launch->attributes[i].value.cooperative)
            flags |= NB_LAUNCH_COOPERATIVE;
    if (nb_stream_is_captured(call, launch->stream))
        flags |= NB_LAUNCH_CAPTURED;
    return flags;
}

NB_ALWAYS_INLINE void copy_attributes(const struct nb_launch_form *launch, struct nb_attribute *into,
                                      uint32_t count)
{
    _Static_assert(sizeof launch->attributes->value == sizeof into->value,
                   "CUlaunchAttributeValue is 64 bytes");
    for (uint32_t i = 0; i < count; i++) {
        into[i].id = (uint32_t)launch->attributes[i].id;
        into[i].reserved = 0;
        memcpy(into[i].value, &launch->attributes[i].value, sizeof into[i].value);
    }
}

/* Write the record into the ring before the driver is called, while the parameters are as the caller gave
 * them; launch_end publishes it. NULL if this launch is not recorded. */
NB_ALWAYS_INLINE struct nb_launch *launch_record(const struct nb_call *call,
                                                 const struct nb_launch_form *launch, uint64_t begin)
{
    static const struct nb_description nothing; /* kernel 0: its own record was lost */
    const struct nb_description *description = nb_described(launch->function);
    if (__builtin_expect(description == NULL, 0)) {
        description = nb_describe(call->thread, launch->function);
        begin = nb_clock(); /* what the driver was asked for us is no part of the launch */
        if (description == NULL)
            description = &nothing;
    }
    const struct nb_parameters parameters =
        nb_parameters_of(description, launch->kernelParams, launch->extra);
    const uint32_t attributes =
        launch->attribute_count < NB_ATTRIBUTES_MAX ? launch->attribute_count : NB_ATTRIBUTES_MAX;
    const size_t attribute_bytes = attributes * sizeof(struct nb_attribute);
    const size_t size = (sizeof(struct nb_launch) + attribute_bytes + parameters.kept_bytes + 7) & ~(size_t)7;
    struct nb_launch *record = nb_ring_reserve(call->thread, size);
    if (record == NULL)
        return NULL;
    record->record.size = (uint32_t)size;
    record->record.kind = NB_RECORD_LAUNCH;
    record->record.slot = (uint16_t)call->slot;
    record->record.begin = begin;
    record->record.count = attributes;
    record->kernel = description->number;
    record->stream = nb_handle(launch->stream);
    memcpy(record->grid, launch->grid, sizeof record->grid);
    memcpy(record->block, launch->block, sizeof record->block);
    record->shared_bytes = launch->shared_bytes;
    record->flags = launch_flags(call, launch);
    record->parameter_bytes = parameters.bytes;
    record->kept_bytes = parameters.kept_bytes;
    copy_attributes(launch, (struct nb_attribute *)(record + 1), attributes);
    nb_parameters_copy(&parameters, description, (unsigned char *)(record + 1) + attribute_bytes);
    return record;
}

/* A launch that is inside the driver. */
struct under_way {
    struct nb_launch *record;
    struct nb_capture_launch *kept; /* for the capture */
};

/* What is to be recorded of a launch, in the ring and in a capture, before the driver has it. */
NB_ALWAYS_INLINE struct under_way launch_begin(const struct nb_call *call,
                                               const struct nb_launch_form *launch)
{
    struct under_way under_way = {NULL, NULL};
    if (call->thread == NULL)
        return under_way;
    uint64_t begin = call->begin;
    if (nb_region_wanted()) {
        const struct nb_launch_form copy = *launch; /* else all launches were in memory, not in registers */
        under_way.kept = nb_capture_launch_before(call, &copy);
        begin = nb_clock(); /* that was no part of the launch */
    }
    under_way.record = launch_record(call, launch, begin);
    return under_way;
}

/* Publish the record. */
NB_ALWAYS_INLINE void launch_commit(const struct nb_call *call, struct nb_launch *record, CUresult result,
                                    uint64_t end)
{
    if (record == NULL)
        return;
    record->record.end = end;
    record->record.result = (int32_t)result;
    nb_ring_commit(call->thread, record->record.size);
}

NB_ALWAYS_INLINE CUresult launch_end(const struct nb_call *call, struct under_way under_way, CUresult result)
{
    if (call->thread == NULL)
        return result;
    const uint64_t end = nb_clock();
    launch_commit(call, under_way.record, result, end);
    if (__builtin_expect(under_way.kept != NULL, 0))
        nb_capture_launch_after(call, under_way.kept, result);
    nb_call_leave(call, end);
    return result;
}

static const struct under_way nothing_under_way;

CUresult nb_replace_launch(const struct nb_call *call, nb_cuLaunchKernel_t real, CUfunction f,
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
    const struct under_way under_way = launch_begin(call, &launch);
    return launch_end(call, under_way,
                      real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
                           hStream, kernelParams, extra));
}

CUresult nb_replace_launch_ex(const struct nb_call *call, nb_cuLaunchKernelEx_t real,
                              const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    if (config == NULL)
        return launch_end(call, nothing_under_way, real(config, f, kernelParams, extra));
    const struct nb_launch_form launch = {.function = f,
                                          .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                          .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                          .shared_bytes = config->sharedMemBytes,
                                          .stream = config->hStream,
                                          .attributes = config->attrs,
                                          .attribute_count = config->attrs != NULL ? config->numAttrs : 0,
                                          .kernelParams = kernelParams,
                                          .extra = extra};
    const struct under_way under_way = launch_begin(call, &launch);
    return launch_end(call, under_way, real(config, f, kernelParams, extra));
}

CUresult nb_replace_launch_cooperative(const struct nb_call *call, nb_cuLaunchCooperativeKernel_t real,
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
    const struct under_way under_way = launch_begin(call, &launch);
    return launch_end(call, under_way,
                      real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
                           hStream, kernelParams));
}

static struct nb_launch_form form_of_one(const CUDA_LAUNCH_PARAMS *one)
{
    return (struct nb_launch_form){.function = one->function,
                                   .grid = {one->gridDimX, one->gridDimY, one->gridDimZ},
                                   .block = {one->blockDimX, one->blockDimY, one->blockDimZ},
                                   .shared_bytes = one->sharedMemBytes,
                                   .stream = one->hStream,
                                   .flags = NB_LAUNCH_COOPERATIVE,
                                   .kernelParams = one->kernelParams,
                                   .unreplayable =
                                       "launches kernels on several devices that wait for each other"};
}

/* One call, one launch a device. The launches share the call's times and result: each is written whole, and
 * none is left reserved across the driver's call, which could publish only one. To a region they are one. */
CUresult nb_replace_launch_multi(const struct nb_call *call, nb_cuLaunchCooperativeKernelMultiDevice_t real,
                                 CUDA_LAUNCH_PARAMS *launchParamsList, unsigned int numDevices,
                                 unsigned int flags)
{
    const unsigned int count = call->thread != NULL && launchParamsList != NULL ? numDevices : 0;
    struct under_way under_way = nothing_under_way;
    if (count > 0 && nb_region_wanted()) {
        const struct nb_launch_form first = form_of_one(launchParamsList);
        under_way.kept = nb_capture_launch_before(call, &first);
    }
    const CUresult result = real(launchParamsList, numDevices, flags);
    for (unsigned int i = 0; i < count; i++) {
        const struct nb_launch_form launch = form_of_one(&launchParamsList[i]);
        launch_commit(call, launch_record(call, &launch, call->begin), result, nb_clock());
    }
    return launch_end(call, under_way, result);
}

/* The launch calls of CUDA 3 (cuFuncSetBlockShape, cuParamSet*): block shape, shared memory and parameters
 * are state of the function, which the driver does not give back. They are recorded as 0, not guessed. */
static struct under_way legacy_begin(const struct nb_call *call, CUfunction f, int width, int height,
                                     CUstream stream)
{
    const struct nb_launch_form launch = {
        .function = f,
        .grid = {(unsigned int)width, (unsigned int)height, 1},
        .stream = stream,
        .unreplayable =
            "launches with parameters that are state of the function (cuParamSet), which the driver "
            "does not give back"};
    return launch_begin(call, &launch);
}

CUresult nb_replace_launch_legacy(const struct nb_call *call, nb_cuLaunch_t real, CUfunction f)
{
    const struct under_way under_way = legacy_begin(call, f, 1, 1, NULL);
    return launch_end(call, under_way, real(f));
}

CUresult nb_replace_launch_grid(const struct nb_call *call, nb_cuLaunchGrid_t real, CUfunction f,
                                int grid_width, int grid_height)
{
    const struct under_way under_way = legacy_begin(call, f, grid_width, grid_height, NULL);
    return launch_end(call, under_way, real(f, grid_width, grid_height));
}

CUresult nb_replace_launch_grid_async(const struct nb_call *call, nb_cuLaunchGridAsync_t real, CUfunction f,
                                      int grid_width, int grid_height, CUstream hStream)
{
    const struct under_way under_way = legacy_begin(call, f, grid_width, grid_height, hStream);
    return launch_end(call, under_way, real(f, grid_width, grid_height, hStream));
}
