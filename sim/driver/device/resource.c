/* Multiprocessors as resources, and splitting them. Sizes and codes are those of an H200. */
#include "driver/device/resource.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/device/device.h"
#include "driver/device/model.h"

#include <stdlib.h>
#include <string.h>

#if CUDA_VERSION >= 12040

#define GROUP_MIN  8u /* multiprocessors that are scheduled together, as clusters need */
#define SINGLE_MIN 2u /* without clusters */

/* The driver's private part of a resource. */
struct inside {
    uint32_t origin; /* number of the split that made the resource; 0: not made by a split */
    uint32_t splittable;
};

static struct inside read_inside(const CUdevResource *resource)
{
    struct inside inside;
    memcpy(&inside, resource->_internal_padding, sizeof inside);
    return inside;
}

static void write_inside(CUdevResource *resource, const struct inside *inside)
{
    memcpy(resource->_internal_padding, inside, sizeof *inside);
}

void sim_resource_fill(CUdevResource *resource, unsigned multiprocessors)
{
    memset(resource, 0, sizeof *resource);
    resource->type = CU_DEV_RESOURCE_TYPE_SM;
    resource->sm.smCount = multiprocessors;
#if CUDA_VERSION >= 13000
    resource->sm.minSmPartitionSize = GROUP_MIN;
    resource->sm.smCoscheduledAlignment = GROUP_MIN;
#endif
    write_inside(resource, &(struct inside){.splittable = 1});
}

static void fill_part(CUdevResource *resource, unsigned multiprocessors, uint32_t origin)
{
    memset(resource, 0, sizeof *resource);
    if (multiprocessors == 0)
        return; /* CU_DEV_RESOURCE_TYPE_INVALID */
    resource->type = CU_DEV_RESOURCE_TYPE_SM;
    resource->sm.smCount = multiprocessors;
    write_inside(resource, &(struct inside){.origin = origin});
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (resource == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (device != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    sim_resource_fill(resource, sim_multiprocessors());
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource *resource, CUdevResourceType type)
{
    struct sim_context *context;
    CUresult result = sim_check_initialized();
    if (result == CUDA_SUCCESS && resource == NULL)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = hCtx == NULL ? CUDA_ERROR_INVALID_CONTEXT : sim_enter_with(hCtx, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    sim_resource_fill(resource, sim_context_multiprocessors(context));
    return CUDA_SUCCESS;
}

struct split {
    unsigned each;
    unsigned groups;
};

/* Groups of at least `minimum` multiprocessors, rounded up to the scheduling unit. The last group may be
 * smaller than a unit only if the split takes all multiprocessors. */
static bool plan(unsigned available, unsigned minimum, unsigned flags, unsigned wanted, struct split *split)
{
    const unsigned step =
        (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0 ? SINGLE_MIN : GROUP_MIN;
    if (minimum > available)
        return false;
    split->each = minimum == 0 ? step : (minimum + step - 1) / step * step;
    if (split->each > available)
        split->each = available;
    split->groups = available / split->each;
    if (split->groups > wanted)
        split->groups = wanted;
    return true;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned int useFlags, unsigned int minCount)
{
    static atomic_uint next_origin = 1;
    const unsigned both =
        CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING | CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
    struct split split;
    const CUresult ready = sim_check_initialized();
    if (ready != CUDA_SUCCESS)
        return ready;
    if (nbGroups == NULL || input == NULL || (useFlags & both) == both || (result != NULL && *nbGroups == 0))
        return CUDA_ERROR_INVALID_VALUE;
    if (input->type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    const unsigned available = input->sm.smCount;
    if (read_inside(input).splittable == 0 ||
        !plan(available, minCount, useFlags, result == NULL ? ~0u : *nbGroups, &split))
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const uint32_t origin = atomic_fetch_add(&next_origin, 1);
    *nbGroups = split.groups;
    for (unsigned i = 0; result != NULL && i < split.groups; i++)
        fill_part(&result[i], split.each, origin);
    if (remaining != NULL)
        fill_part(remaining, available - split.groups * split.each, origin);
    return CUDA_SUCCESS;
}

static void dispose(struct sim_object *object)
{
    free(object);
}

/* Adds up the parts. The same part twice, and parts of two splits, are accepted, as on an H200. */
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources,
                                   unsigned int nbResources)
{
    unsigned multiprocessors = 0;
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (phDesc == NULL || resources == NULL || nbResources == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < nbResources; i++) {
        if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM)
            return CUDA_ERROR_INVALID_RESOURCE_TYPE;
        multiprocessors += resources[i].sm.smCount;
    }
    struct sim_description *description = calloc(1, sizeof(*description));
    if (description == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&description->object, SIM_DESCRIPTION, NULL, dispose);
    description->multiprocessors =
        multiprocessors < sim_multiprocessors() ? multiprocessors : sim_multiprocessors();
    if (!sim_object_publish(description)) {
        sim_object_release(description);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phDesc = (CUdevResourceDesc)description;
    return CUDA_SUCCESS;
}

#endif
