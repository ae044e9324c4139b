#include "cuda/capture/launch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/driver/slots.h"
#include "core/region/region.h"
#include "cuda/capture/attribute.h"
#include "cuda/capture/kernel.h"
#include "cuda/capture/operation.h"
#include "cuda/capture/refuse.h"
#include "cuda/capture/stream.h"
#include "cuda/kernel/function.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/stream.h"
#include "real.h"
#include "surface.h"

/* CUDA has fewer launch attributes than this, and accepts each attribute once. */
#define ATTRIBUTES_MAX 64u

struct nb_capture_launch {
    const char *problem; /* if set, all other fields are unset */
    struct nb_capture_operation operation;
    struct nb_capture_parameters parameters;
    uint32_t attribute_count;
    CUlaunchAttribute attributes[];
};

/* Marks a launch that counts for the selection but is not captured. */
static struct nb_capture_launch counted_only;

/* Context of the region's first launch. Addresses and modules of other contexts mean nothing in a replay. */
static _Atomic uint64_t context_of_region;

static void check_context(const struct nb_call *call)
{
    CUcontext context = NULL;
    uint64_t first = 0;
    if (NB_REAL(cuCtxGetCurrent)(&context) != CUDA_SUCCESS || context == NULL ||
        atomic_compare_exchange_strong(&context_of_region, &first, nb_handle(context)))
        return;
    if (first != nb_handle(context))
        nb_capture_refuse(call, "launches in another context than the region's first launch");
}

static bool is_cooperative(const struct nb_launch_form *launch)
{
    for (unsigned int i = 0; i < launch->attribute_count; i++)
        if (launch->attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
            launch->attributes[i].value.cooperative)
            return true;
    return (launch->flags & NB_LAUNCH_COOPERATIVE) != 0;
}

static bool fill_launch(const struct nb_call *call, const struct nb_launch_form *launch,
                        struct nb_capture_launch *launch_copy)
{
    const uint32_t kernel = nb_capture_write_kernel(call, launch->function);
    if (kernel == NB_NOTHING)
        return false;
    launch_copy->parameters =
        nb_capture_copy_parameters(call, launch->function, launch->kernelParams, launch->extra);
    if (launch_copy->parameters.start == NULL)
        return false;
    launch_copy->operation =
        (struct nb_capture_operation){.kind = NB_OPERATION_KERNEL,
                                      .flags = is_cooperative(launch) ? NB_OPERATION_COOPERATIVE : 0,
                                      .stream = nb_capture_write_stream(call, launch->stream),
                                      .as.launch = {.kernel = kernel, .shared_bytes = launch->shared_bytes}};
    memcpy(launch_copy->operation.as.launch.grid, launch->grid, sizeof launch->grid);
    memcpy(launch_copy->operation.as.launch.block, launch->block, sizeof launch->block);
    launch_copy->attribute_count = launch->attribute_count;
    if (launch->attribute_count != 0)
        memcpy(launch_copy->attributes, launch->attributes,
               launch->attribute_count * sizeof *launch_copy->attributes);
    return true;
}

/* Copy everything that the caller may change once the driver has returned. NULL: the launch is not
 * captured. */
static struct nb_capture_launch *keep_launch(const struct nb_call *call, const struct nb_launch_form *launch)
{
    check_context(call);
    const bool has_too_many = launch->attribute_count > ATTRIBUTES_MAX;
    struct nb_capture_launch *launch_copy =
        calloc(1, sizeof *launch_copy +
                      (has_too_many ? 0 : launch->attribute_count) * sizeof *launch_copy->attributes);
    if (launch_copy == NULL) {
        nb_capture_refuse_incomplete();
        return NULL;
    }
    launch_copy->problem = has_too_many ? "has more launch attributes than CUDA defines" : launch->problem;
    if (launch_copy->problem == NULL && !fill_launch(call, launch, launch_copy)) {
        free(launch_copy);
        return NULL;
    }
    return launch_copy;
}

struct nb_capture_launch *nb_capture_begin_launch(const struct nb_call *call,
                                                  const struct nb_launch_form *launch)
{
    if (nb_stream_is_captured(call, launch->stream))
        return NULL;
    const int saved = errno;
    nb_describe(call->thread, launch->function); /* learns the name of a new kernel */
    const struct nb_function *function = nb_funcmap_get(nb_handle(launch->function));
    nb_region_before_operation(function != NULL ? function->name : "");
    struct nb_capture_launch *launch_copy = nb_region_is_open() ? keep_launch(call, launch) : NULL;
    if (launch_copy != NULL)
        nb_capture_find_globals(launch_copy->parameters);
    errno = saved;
    return launch_copy != NULL ? launch_copy : &counted_only;
}

static void append_launch(const struct nb_call *call, struct nb_capture_launch *launch_copy)
{
    struct nb_attribute attributes[ATTRIBUTES_MAX];
    const uint32_t count =
        nb_capture_copy_attributes(call, launch_copy->attributes, launch_copy->attribute_count, attributes);
    const struct nb_piece data[] = {{launch_copy->parameters.start, launch_copy->parameters.bytes},
                                    {attributes, count * sizeof *attributes}};
    const uint32_t index = nb_capture_append_operation(&launch_copy->operation, data, 2);
    if (index != NB_NOTHING)
        nb_capture_check_parameters(call, index, launch_copy->parameters.start,
                                    launch_copy->parameters.bytes);
}

void nb_capture_end_launch(const struct nb_call *call, struct nb_capture_launch *launch_copy, CUresult result)
{
    const int saved = errno;
    if (launch_copy != &counted_only) {
        if (result == CUDA_SUCCESS && launch_copy->problem != NULL)
            nb_capture_refuse(call, launch_copy->problem);
        else if (result == CUDA_SUCCESS)
            append_launch(call, launch_copy);
        free(launch_copy->parameters.start);
        free(launch_copy);
    }
    nb_region_after_launch();
    errno = saved;
}

static void reset(void)
{
    atomic_store(&context_of_region, 0);
}

const struct nb_component nb_capture_launch_component = {.reset = reset};
