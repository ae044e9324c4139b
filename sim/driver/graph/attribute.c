#include "driver/graph/attribute.h"

#include "driver/graph/node.h"

#include <stdlib.h>
#include <string.h>

/* Attributes of kernel nodes in driver 580, for compute capability 9.0. */
enum {
    ACCESS_POLICY_WINDOW = 1,
    COOPERATIVE = 2,
    CLUSTER_DIMENSION = 4,
    CLUSTER_SCHEDULING = 5,
    PRIORITY = 8,
    MEM_SYNC_DOMAIN_MAP = 9,
    MEM_SYNC_DOMAIN = 10,
    DEVICE_UPDATABLE = 13,
    SHARED_MEMORY_CARVEOUT = 14
};

static size_t bytes_of(CUlaunchAttributeID id)
{
    switch ((int)id) {
    case ACCESS_POLICY_WINDOW:
        return sizeof(CUaccessPolicyWindow);
    case CLUSTER_DIMENSION:
        return 3 * sizeof(unsigned);
    case COOPERATIVE:
    case CLUSTER_SCHEDULING:
    case PRIORITY:
    case MEM_SYNC_DOMAIN:
    case SHARED_MEMORY_CARVEOUT:
        return sizeof(int);
    case MEM_SYNC_DOMAIN_MAP:
        return 2;
    case DEVICE_UPDATABLE:
        return 2 * sizeof(void *);
    default:
        return 0;
    }
}

static struct sim_graph_attributes *attributes_of(struct sim_graph_node *node)
{
    if (node->attributes == NULL) {
        node->attributes = calloc(1, sizeof(*node->attributes));
        if (node->attributes != NULL)
            node->attributes->values[MEM_SYNC_DOMAIN_MAP].pad[1] = 1; /* the default for the remote domain */
    }
    return node->attributes;
}

bool sim_graph_attribute_get(const struct sim_graph_node *node, CUlaunchAttributeID id,
                             CUlaunchAttributeValue *value)
{
    const size_t bytes = bytes_of(id);
    if (node->work.kind != SIM_WORK_LAUNCH || bytes == 0)
        return false;
    memset(value, 0, bytes);
    if ((int)id == COOPERATIVE)
        value->cooperative = node->work.launch.cooperative;
    else if (node->attributes != NULL)
        memcpy(value, &node->attributes->values[id], bytes);
    else if ((int)id == MEM_SYNC_DOMAIN_MAP)
        value->pad[1] = 1;
    return true;
}

CUresult sim_graph_attribute_set_priority(struct sim_graph_node *node, int priority)
{
    if (priority == 0 && node->attributes == NULL)
        return CUDA_SUCCESS;
    struct sim_graph_attributes *attributes = attributes_of(node);
    if (attributes == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(&attributes->values[PRIORITY], &priority, sizeof priority);
    return CUDA_SUCCESS;
}

static CUresult set_priority(struct sim_graph_node *node, int wanted)
{
    int least;
    int greatest;
    const CUresult result = cuCtxGetStreamPriorityRange(&least, &greatest);
    if (result != CUDA_SUCCESS)
        return result;
    return sim_graph_attribute_set_priority(node, wanted > least      ? least
                                                  : wanted < greatest ? greatest
                                                                      : wanted);
}

static CUresult check_cluster(const struct sim_launch *launch, const unsigned *cluster)
{
    for (size_t i = 0; i < 3; i++)
        if (cluster[i] == 0 || launch->grid[i] % cluster[i] != 0)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return cluster[0] * cluster[1] * cluster[2] == 1 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult set(struct sim_graph_node *node, CUlaunchAttributeID id, const CUlaunchAttributeValue *value)
{
    int number;
    unsigned cluster[3];
    memcpy(&number, value, sizeof number);
    memcpy(cluster, value, sizeof cluster);
    switch ((int)id) {
    case COOPERATIVE:
        node->work.launch.cooperative = number != 0;
        return CUDA_SUCCESS;
    case PRIORITY:
        return set_priority(node, number);
    case DEVICE_UPDATABLE:
        return number == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
    case SHARED_MEMORY_CARVEOUT:
        if (number < -1 || number > 100)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CLUSTER_DIMENSION: {
        const CUresult result = check_cluster(&node->work.launch, cluster);
        if (result != CUDA_SUCCESS)
            return result;
        break;
    }
    default:
        break;
    }
    struct sim_graph_attributes *attributes = attributes_of(node);
    if (attributes == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(&attributes->values[id], value, bytes_of(id));
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue *value_out)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, value_out, SIM_WORK_LAUNCH, &node);
    if (result == CUDA_SUCCESS && !sim_graph_attribute_get(node, attr, value_out))
        return CUDA_ERROR_INVALID_VALUE;
    return result;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue *value)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, value, SIM_WORK_LAUNCH, &node);
    if (result != CUDA_SUCCESS)
        return result;
    return bytes_of(attr) == 0 ? CUDA_ERROR_INVALID_VALUE : set(node, attr, value);
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    struct sim_graph_node *to;
    struct sim_graph_node *from;
    CUresult result = sim_graph_node_find(dst, dst, SIM_WORK_LAUNCH, &to);
    if (result == CUDA_SUCCESS)
        result = sim_graph_node_find(src, src, SIM_WORK_LAUNCH, &from);
    if (result == CUDA_SUCCESS)
        result = to->context == from->context ? sim_graph_keep_attributes(to, from->attributes)
                                              : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        to->work.launch.cooperative = from->work.launch.cooperative;
    return result;
}
