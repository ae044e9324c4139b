/* Accepted attributes and values are those of an H200 (driver 580.159). Attributes that only affect speed
 * have no effect here: work runs in order, so a dependent launch never begins too early. */
#include "driver/code/launch_request.h"

#include "driver/code/module.h"
#include "driver/core/message.h"
#include "driver/device/model.h"

#include <string.h>

#define CLUSTER_PORTABLE 8u
#define CLUSTER_MOST     16u

static bool any(const uint32_t shape[3])
{
    return shape[0] != 0 || shape[1] != 0 || shape[2] != 0;
}

static bool has_zero(const uint32_t shape[3])
{
    return shape[0] == 0 || shape[1] == 0 || shape[2] == 0;
}

static CUresult read_attribute(const CUlaunchAttribute *attribute, struct sim_launch_request *request)
{
    const CUlaunchAttributeValue *value = &attribute->value;
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        request->cooperative = value->cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        memcpy(request->cluster, &value->clusterDim, sizeof request->cluster);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return value->programmaticEvent.event == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_NOT_SUPPORTED;
#if CUDA_VERSION >= 12030
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return value->launchCompletionEvent.event == NULL ? CUDA_ERROR_INVALID_HANDLE
                                                          : CUDA_ERROR_NOT_SUPPORTED;
#endif
#if CUDA_VERSION >= 12040
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return CUDA_ERROR_NOT_SUPPORTED;
#endif
#if CUDA_VERSION >= 12080
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        memcpy(request->preferred_cluster, &value->preferredClusterDim, sizeof request->preferred_cluster);
        return CUDA_SUCCESS;
#endif
#if CUDA_VERSION >= 13020
    case CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE:
        if ((unsigned)value->portableClusterSizeMode > CU_LAUNCH_PORTABLE_CLUSTER_MODE_ALLOW_NON_PORTABLE)
            return CUDA_ERROR_INVALID_VALUE;
        request->cluster_mode = (int)value->portableClusterSizeMode;
        return CUDA_SUCCESS;
#endif
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: /* for streams only */
        return CUDA_ERROR_INVALID_VALUE;
    default:
        return (unsigned)attribute->id >= CU_LAUNCH_ATTRIBUTE_MAX || (unsigned)attribute->id == 15
                   ? CUDA_ERROR_INVALID_VALUE
                   : CUDA_SUCCESS;
    }
}

CUresult sim_launch_configure(const CUlaunchConfig *config, struct sim_launch_request *request)
{
    if (config == NULL || (config->numAttrs != 0 && config->attrs == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    *request = (struct sim_launch_request){.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                           .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                           .shared_bytes = config->sharedMemBytes};
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < config->numAttrs && result == CUDA_SUCCESS; i++)
        result = read_attribute(&config->attrs[i], request);
    return result;
}

static uint32_t most_in(int mode, const struct sim_function *function)
{
    const int major = sim_model()->major;
    if (major < 9)
        return 0;
    const bool more = mode == 0 ? atomic_load(&function->settings->nonportable_cluster) != 0 : mode == 2;
    return more && major <= 10 ? CLUSTER_MOST : CLUSTER_PORTABLE;
}

uint32_t sim_cluster_limit(const struct sim_function *function)
{
    return most_in(0, function);
}

CUresult sim_cluster_check(const struct sim_launch_request *request, const struct sim_function *function)
{
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(function->ptx, &known);
    const uint32_t *shape = any(request->cluster) ? request->cluster : known.cluster;
    if (any(known.cluster) && memcmp(shape, known.cluster, sizeof known.cluster) != 0)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (!any(shape))
        return any(request->preferred_cluster) ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
    const uint32_t most = most_in(request->cluster_mode, function);
    if (has_zero(shape) || (any(request->preferred_cluster) && has_zero(request->preferred_cluster)))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (shape[0] == 1 && shape[1] == 1 && shape[2] == 1 && most == 0)
        return CUDA_SUCCESS; /* every block is such a cluster */
    for (size_t i = 0; i < 3; i++)
        if (shape[i] > most || request->grid[i] % shape[i] != 0 ||
            request->preferred_cluster[i] % shape[i] != 0)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (shape[0] * shape[1] * shape[2] > most)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    /* Blocks run independently: a kernel that never reads its cluster's registers cannot tell. */
    if (shape[0] * shape[1] * shape[2] == 1 || !known.uses_cluster)
        return CUDA_SUCCESS;
    sim_print("kernel %s: clusters of more than one block are not supported", ptx_kernel_name(function->ptx));
    return CUDA_ERROR_NOT_SUPPORTED;
}
