/* Graph nodes: add a node, read and change its parameters. */
#include "hip/driver/hip.h"
#include "hip/driver/shapes.h"

/* ---- kernels ------------------------------------------------------------------------------------------- */

/* `func` is a stub's address or a hipFunction_t: the library searches the stubs first. HIP has no node
 * contexts and no library kernels. */
static hipKernelNodeParams kernel_of(const CUDA_KERNEL_NODE_PARAMS *from, void *packed[NB_HIP_PACKED_MAX])
{
    return (hipKernelNodeParams){.blockDim = {from->blockDimX, from->blockDimY, from->blockDimZ},
                                 .extra = nb_hip_packed(from->extra, packed),
                                 .func = from->func != NULL ? (void *)from->func : (void *)from->kern,
                                 .gridDim = {from->gridDimX, from->gridDimY, from->gridDimZ},
                                 .kernelParams = from->kernelParams,
                                 .sharedMemBytes = from->sharedMemBytes};
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    void *packed[NB_HIP_PACKED_MAX];
    const hipKernelNodeParams kernel = kernel_of(nodeParams, packed);
    return nb_hip_result(HIP(hipGraphAddKernelNode)((hipGraphNode_t *)phGraphNode, (hipGraph_t)hGraph,
                                                    (const hipGraphNode_t *)dependencies, numDependencies,
                                                    &kernel));
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    hipKernelNodeParams kernel;
    const CUresult result = nb_hip_result(HIP(hipGraphKernelNodeGetParams)((hipGraphNode_t)hNode, &kernel));
    if (result == CUDA_SUCCESS)
        *nodeParams = nb_shape_of_kernel(&kernel);
    return result;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    void *packed[NB_HIP_PACKED_MAX];
    const hipKernelNodeParams kernel = kernel_of(nodeParams, packed);
    return nb_hip_result(HIP(hipGraphKernelNodeSetParams)((hipGraphNode_t)hNode, &kernel));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    void *packed[NB_HIP_PACKED_MAX];
    const hipKernelNodeParams kernel = kernel_of(nodeParams, packed);
    return nb_hip_result(
        HIP(hipGraphExecKernelNodeSetParams)((hipGraphExec_t)hGraphExec, (hipGraphNode_t)hNode, &kernel));
}

/* HIP's attributes have CUDA's numbers. Access policy windows are left out: HIP orders their fields
 * differently, and a replay does not set them. */
static bool has_attribute(CUkernelNodeAttrID attribute)
{
    return attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE || attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue *value_out)
{
    hipError_t (*const get)(hipGraphNode_t, int, CUkernelNodeAttrValue *) =
        HIP_LATER(hipGraphKernelNodeGetAttribute, (hipGraphNode_t, int, CUkernelNodeAttrValue *));
    return get != NULL && has_attribute(attr)
               ? nb_hip_result(get((hipGraphNode_t)hNode, (int)attr, value_out))
               : CUDA_ERROR_NOT_SUPPORTED;
}

/* The library exports this function since 5.3. The header of 5.2 declares it, too. */
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue *value)
{
    hipError_t (*const set)(hipGraphNode_t, int, const CUkernelNodeAttrValue *) =
        HIP_LATER(hipGraphKernelNodeSetAttribute, (hipGraphNode_t, int, const CUkernelNodeAttrValue *));
    return set != NULL && has_attribute(attr) ? nb_hip_result(set((hipGraphNode_t)hNode, (int)attr, value))
                                              : CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- copies -------------------------------------------------------------------------------------------- */

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    hipMemcpy3DParms copy;
    (void)ctx;
    if (copyParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!nb_hip_copy_of(copyParams, &copy))
        return CUDA_ERROR_NOT_SUPPORTED;
    return nb_hip_result(HIP(hipGraphAddMemcpyNode)((hipGraphNode_t *)phGraphNode, (hipGraph_t)hGraph,
                                                    (const hipGraphNode_t *)dependencies, numDependencies,
                                                    &copy));
}

/* Checks the kind first: the library would read a node of another kind (5.2: 1D) as if it were a 3D copy. */
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    hipMemcpy3DParms copy;
    CUgraphNodeType type;
    CUresult result = cuGraphNodeGetType(hNode, &type);
    if (result == CUDA_SUCCESS && type != CU_GRAPH_NODE_TYPE_MEMCPY)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = nb_hip_result(HIP(hipGraphMemcpyNodeGetParams)((hipGraphNode_t)hNode, &copy));
    if (result == CUDA_SUCCESS && !nb_hip_copy_to(&copy, nodeParams))
        result = CUDA_ERROR_NOT_SUPPORTED;
    return result;
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    hipMemcpy3DParms copy;
    (void)ctx;
    if (copyParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return nb_hip_copy_of(copyParams, &copy) ? nb_hip_result(HIP(hipGraphExecMemcpyNodeSetParams)(
                                                   (hipGraphExec_t)hGraphExec, (hipGraphNode_t)hNode, &copy))
                                             : CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- memsets ------------------------------------------------------------------------------------------- */

static hipMemsetParams set_of(const CUDA_MEMSET_NODE_PARAMS *from)
{
    return (hipMemsetParams){.dst = nb_hip_address(from->dst),
                             .elementSize = from->elementSize,
                             .height = from->height,
                             .pitch = from->pitch,
                             .value = from->value,
                             .width = from->width};
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                              CUcontext ctx)
{
    (void)ctx;
    if (memsetParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const hipMemsetParams set = set_of(memsetParams);
    return nb_hip_result(HIP(hipGraphAddMemsetNode)((hipGraphNode_t *)phGraphNode, (hipGraph_t)hGraph,
                                                    (const hipGraphNode_t *)dependencies, numDependencies,
                                                    &set));
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    hipMemsetParams set;
    const CUresult result = nb_hip_result(HIP(hipGraphMemsetNodeGetParams)((hipGraphNode_t)hNode, &set));
    if (result == CUDA_SUCCESS)
        *nodeParams = nb_shape_of_set(&set);
    return result;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    (void)ctx;
    if (memsetParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const hipMemsetParams set = set_of(memsetParams);
    return nb_hip_result(
        HIP(hipGraphExecMemsetNodeSetParams)((hipGraphExec_t)hGraphExec, (hipGraphNode_t)hNode, &set));
}
