/* Thread block clusters. The blocks of a cluster run on multiprocessors of one graphics processing cluster.
 * Number and size of these are the model's estimate: for clusters of 8 and 16 blocks an H200 fits 0 to 4 per
 * cent more than computed here; for 1, 2 and 4 blocks the numbers agree. */
#include "driver/code/launch_request.h"
#include "driver/code/module.h"
#include "driver/code/occupancy.h"
#include "driver/context/context.h"
#include "driver/device/model.h"

/* Resident blocks per multiprocessor when blocks come in clusters: no result of an H200 implies more. */
#define CLUSTER_BLOCKS 8

static CUresult resolve(CUfunction func, const void *out, const CUlaunchConfig *config,
                        struct sim_launch_request *request, struct sim_function **function)
{
    struct sim_context *context;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_function_resolve(context, func, function);
    return result == CUDA_SUCCESS ? sim_launch_configure(config, request) : result;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config)
{
    struct sim_launch_request request;
    struct sim_function *function;
    const CUresult result = resolve(func, clusterSize, config, &request, &function);
    if (result != CUDA_SUCCESS)
        return result;
    *clusterSize = (int)sim_cluster_limit(function);
    return *clusterSize == 0 ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

/* Without a cluster dimension in the configuration the result is 0, as on an H200. */
CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config)
{
    struct sim_launch_request request;
    struct sim_function *function;
    CUresult result = resolve(func, numClusters, config, &request, &function);
    if (result == CUDA_SUCCESS)
        result = sim_cluster_check(&request, function);
    if (result != CUDA_SUCCESS)
        return result;
    const uint64_t threads = (uint64_t)request.block[0] * request.block[1] * request.block[2];
    if (threads == 0 || threads > UINT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    const int size = (int)(request.cluster[0] * request.cluster[1] * request.cluster[2]);
    const int held = sim_occupancy(function, (unsigned)threads, request.shared_bytes);
    int clusters = 0;
    for (const unsigned char *group = sim_model()->groups; size != 0 && *group != 0; group++)
        clusters += *group / size;
    *numClusters = clusters * (held < CLUSTER_BLOCKS ? held : CLUSTER_BLOCKS);
    return CUDA_SUCCESS;
}
