/* Allocation and free nodes, and the device's graph memory attributes. */
#include "driver/graph/memory_node.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/device/device.h"
#include "driver/graph/memory.h"
#include "driver/graph/node.h"

#include <string.h>

static CUresult check(const CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    if (p == NULL || p->bytesize == 0 || p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE || p->poolProps.location.id != SIM_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (p->accessDescCount != 0 && p->accessDescs == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < p->accessDescCount; i++)
        if (p->accessDescs[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            p->accessDescs[i].location.id != SIM_DEVICE)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult sim_graph_allocation_work(CUDA_MEM_ALLOC_NODE_PARAMS *p, struct sim_work *work)
{
    CUresult result = check(p);
    if (result == CUDA_SUCCESS)
        result = sim_graph_memory_make(p->bytesize, work);
    if (result == CUDA_SUCCESS)
        p->dptr = sim_graph_memory_address(work->memory);
    return result;
}

/* The one device can always access its own memory, so access descriptors are not kept. */
void sim_graph_allocation_describe(const struct sim_graph_node *node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    memset(p, 0, sizeof *p);
    p->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p->poolProps.location.id = SIM_DEVICE;
    p->bytesize = sim_graph_memory_bytes(node->work.memory);
    p->dptr = sim_graph_memory_address(node->work.memory);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, phGraphNode, hGraph, dependencies, numDependencies);
    if (result == CUDA_SUCCESS)
        result = sim_graph_allocation_work(nodeParams, &work);
    return result == CUDA_SUCCESS ? sim_graph_add_at(&at, &work) : result;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, params_out, SIM_WORK_GRAPH_ALLOCATE, &node);
    if (result == CUDA_SUCCESS)
        sim_graph_allocation_describe(node, params_out);
    return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                               size_t numDependencies, CUdeviceptr dptr)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, phGraphNode, hGraph, dependencies, numDependencies);
    if (result == CUDA_SUCCESS)
        result = sim_graph_memory_release(dptr, &work);
    return result == CUDA_SUCCESS ? sim_graph_add_at(&at, &work) : result;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, dptr_out, SIM_WORK_GRAPH_FREE, &node);
    if (result == CUDA_SUCCESS)
        *dptr_out = sim_graph_memory_address(node->work.memory);
    return result;
}

static CUresult check_device(CUdevice device)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    return device == SIM_DEVICE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    const CUresult result = check_device(device);
    if (result == CUDA_SUCCESS)
        sim_graph_memory_trim();
    return result;
}

/* A graph keeps its memory from a launch to a trim, so reserved equals used, as in driver 580 for a single
 * graph. */
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    const CUresult result = check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (value == NULL || (unsigned)attr > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    const bool high = attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    *(cuuint64_t *)value = sim_graph_memory_in_use(high);
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    const CUresult result = check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if ((attr != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) ||
        value == NULL || *(const cuuint64_t *)value != 0)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_memory_reset_high();
    return CUDA_SUCCESS;
}
