/* Calls of graphs whose parameters the driver takes as they are. */
#include "runtime/cudart.h"

#include <stdint.h>

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) &&
                   offsetof(struct cudaMemAllocNodeParams, dptr) ==
                       offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr) &&
                   sizeof(cudaKernelNodeAttrValue) == sizeof(CUkernelNodeAttrValue),
               "passed on unchanged");

FORWARD(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams),
        cuGraphHostNodeGetParams, node, (CUDA_HOST_NODE_PARAMS *)(void *)pNodeParams)
FORWARD(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams),
        cuGraphHostNodeSetParams, node, (const CUDA_HOST_NODE_PARAMS *)(const void *)pNodeParams)
FORWARD(cudaGraphExecHostNodeSetParams,
        (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams),
        cuGraphExecHostNodeSetParams, hGraphExec, node,
        (const CUDA_HOST_NODE_PARAMS *)(const void *)pNodeParams)

FORWARD(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams),
        cuGraphMemsetNodeGetParams, node, (CUDA_MEMSET_NODE_PARAMS *)(void *)pNodeParams)
FORWARD(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t node, const struct cudaMemsetParams *pNodeParams),
        cuGraphMemsetNodeSetParams, node, (const CUDA_MEMSET_NODE_PARAMS *)(const void *)pNodeParams)

FORWARD(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event_out),
        cuGraphEventRecordNodeGetEvent, node, event_out)
FORWARD(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
        cuGraphEventRecordNodeSetEvent, node, event)
FORWARD(cudaGraphExecEventRecordNodeSetEvent,
        (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event),
        cuGraphExecEventRecordNodeSetEvent, hGraphExec, hNode, event)
FORWARD(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event_out),
        cuGraphEventWaitNodeGetEvent, node, event_out)
FORWARD(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
        cuGraphEventWaitNodeSetEvent, node, event)
FORWARD(cudaGraphExecEventWaitNodeSetEvent,
        (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event),
        cuGraphExecEventWaitNodeSetEvent, hGraphExec, hNode, event)

FORWARD(cudaGraphExecChildGraphNodeSetParams,
        (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, cudaGraph_t childGraph),
        cuGraphExecChildGraphNodeSetParams, hGraphExec, node, childGraph)

FORWARD(cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t hDst, cudaGraphNode_t hSrc),
        cuGraphKernelNodeCopyAttributes, hDst, hSrc)
FORWARD(cudaGraphKernelNodeGetAttribute,
        (cudaGraphNode_t hNode, cudaLaunchAttributeID attr, cudaLaunchAttributeValue *value_out),
        cuGraphKernelNodeGetAttribute, hNode, (CUkernelNodeAttrID)attr,
        (CUkernelNodeAttrValue *)(void *)value_out)
FORWARD(cudaGraphKernelNodeSetAttribute,
        (cudaGraphNode_t hNode, cudaLaunchAttributeID attr, const cudaLaunchAttributeValue *value),
        cuGraphKernelNodeSetAttribute, hNode, (CUkernelNodeAttrID)attr,
        (const CUkernelNodeAttrValue *)(const void *)value)

FORWARD(cudaGraphAddMemAllocNode,
        (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
         size_t numDependencies, struct cudaMemAllocNodeParams *nodeParams),
        cuGraphAddMemAllocNode, pGraphNode, graph, pDependencies, numDependencies,
        (CUDA_MEM_ALLOC_NODE_PARAMS *)(void *)nodeParams)
FORWARD(cudaGraphMemAllocNodeGetParams, (cudaGraphNode_t node, struct cudaMemAllocNodeParams *params_out),
        cuGraphMemAllocNodeGetParams, node, (CUDA_MEM_ALLOC_NODE_PARAMS *)(void *)params_out)
FORWARD(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *dptr_out), cuGraphMemFreeNodeGetParams,
        node, dptr_out)
FORWARD(cudaDeviceGetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attr, void *value),
        cuDeviceGetGraphMemAttribute, device, (CUgraphMem_attribute)attr, value)
FORWARD(cudaDeviceSetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attr, void *value),
        cuDeviceSetGraphMemAttribute, device, (CUgraphMem_attribute)attr, value)
FORWARD(cudaDeviceGraphMemTrim, (int device), cuDeviceGraphMemTrim, device)

FORWARD(cudaUserObjectCreate,
        (cudaUserObject_t * object_out, void *ptr, cudaHostFn_t destroy, unsigned int initialRefcount,
         unsigned int flags),
        cuUserObjectCreate, object_out, ptr, destroy, initialRefcount, flags)
FORWARD(cudaUserObjectRetain, (cudaUserObject_t object, unsigned int count), cuUserObjectRetain, object,
        count)
FORWARD(cudaUserObjectRelease, (cudaUserObject_t object, unsigned int count), cuUserObjectRelease, object,
        count)
FORWARD(cudaGraphRetainUserObject,
        (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags),
        cuGraphRetainUserObject, graph, object, count, flags)
FORWARD(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned int count),
        cuGraphReleaseUserObject, graph, object, count)
