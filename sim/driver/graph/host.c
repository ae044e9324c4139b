/* Host, event and empty nodes. */
#include "driver/context/context.h"
#include "driver/graph/node.h"
#include "driver/graph/work.h"
#include "driver/stream/event.h"

CUresult sim_graph_host_work(CUhostFn function, void *data, struct sim_work *work)
{
    *work = (struct sim_work){.kind = SIM_WORK_HOST, .host = {function, data}};
    return function == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                            size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, phGraphNode, hGraph, dependencies, numDependencies);
    if (result == CUDA_SUCCESS)
        result = nodeParams == NULL ? CUDA_ERROR_INVALID_VALUE
                                    : sim_graph_host_work(nodeParams->fn, nodeParams->userData, &work);
    return result == CUDA_SUCCESS ? sim_graph_add_at(&at, &work) : result;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, nodeParams, SIM_WORK_HOST, &node);
    if (result == CUDA_SUCCESS)
        *nodeParams =
            (CUDA_HOST_NODE_PARAMS){.fn = node->work.host.function, .userData = node->work.host.data};
    return result;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct sim_graph_node *node;
    struct sim_work work;
    CUresult result = sim_graph_node_find(hNode, nodeParams, SIM_WORK_HOST, &node);
    if (result == CUDA_SUCCESS)
        result = sim_graph_host_work(nodeParams->fn, nodeParams->userData, &work);
    return result == CUDA_SUCCESS ? sim_graph_replace(node, &work) : result;
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct sim_graph_step step;
    struct sim_work work;
    CUresult result = sim_graph_step_find(&step, hGraphExec, hNode, SIM_WORK_HOST);
    if (result == CUDA_SUCCESS)
        result = nodeParams == NULL ? CUDA_ERROR_INVALID_VALUE
                                    : sim_graph_host_work(nodeParams->fn, nodeParams->userData, &work);
    return result == CUDA_SUCCESS ? sim_graph_step_set(&step, &work) : result;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                             size_t numDependencies)
{
    struct sim_graph_place at;
    struct sim_work work = {.kind = SIM_WORK_NONE};
    const CUresult result = sim_graph_place(&at, phGraphNode, hGraph, dependencies, numDependencies);
    return result == CUDA_SUCCESS ? sim_graph_add_at(&at, &work) : result;
}

CUresult sim_graph_event_work(CUevent event, enum sim_work_kind kind, struct sim_work *work)
{
    struct sim_event *self = sim_object_find(event, SIM_EVENT);
    if (self == NULL)
        return event == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    *work = (struct sim_work){.kind = kind};
    if (kind == SIM_WORK_RECORD)
        work->event = sim_object_retain(self);
    else
        work->wait.event = sim_object_retain(self);
    return CUDA_SUCCESS;
}

CUevent sim_graph_event_of(const struct sim_work *work)
{
    return (CUevent)(work->kind == SIM_WORK_RECORD ? work->event : work->wait.event);
}

static CUresult add_event(CUgraphNode *made, CUgraph hGraph, const CUgraphNode *dependencies, size_t count,
                          CUevent event, enum sim_work_kind kind)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, made, hGraph, dependencies, count);
    if (result == CUDA_SUCCESS)
        result = sim_graph_event_work(event, kind, &work);
    return result == CUDA_SUCCESS ? sim_graph_add_at(&at, &work) : result;
}

static CUresult get_event(CUgraphNode hNode, CUevent *event, enum sim_work_kind kind)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, event, kind, &node);
    if (result == CUDA_SUCCESS)
        *event = sim_graph_event_of(&node->work);
    return result;
}

static CUresult set_event(CUgraphNode hNode, CUevent event, enum sim_work_kind kind)
{
    struct sim_graph_node *node;
    struct sim_work work;
    CUresult result = sim_graph_node_find(hNode, hNode, kind, &node);
    if (result == CUDA_SUCCESS)
        result = sim_graph_event_work(event, kind, &work);
    return result == CUDA_SUCCESS ? sim_graph_replace(node, &work) : result;
}

static CUresult set_step_event(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event,
                               enum sim_work_kind kind)
{
    struct sim_graph_step step;
    struct sim_work work;
    CUresult result = sim_graph_step_find(&step, hGraphExec, hNode, kind);
    if (result == CUDA_SUCCESS)
        result = sim_graph_event_work(event, kind, &work);
    return result == CUDA_SUCCESS ? sim_graph_step_set(&step, &work) : result;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                   size_t numDependencies, CUevent event)
{
    return add_event(phGraphNode, hGraph, dependencies, numDependencies, event, SIM_WORK_RECORD);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    return get_event(hNode, event_out, SIM_WORK_RECORD);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    return set_event(hNode, event, SIM_WORK_RECORD);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    return set_step_event(hGraphExec, hNode, event, SIM_WORK_RECORD);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, CUevent event)
{
    return add_event(phGraphNode, hGraph, dependencies, numDependencies, event, SIM_WORK_WAIT);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    return get_event(hNode, event_out, SIM_WORK_WAIT);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    return set_event(hNode, event, SIM_WORK_WAIT);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    return set_step_event(hGraphExec, hNode, event, SIM_WORK_WAIT);
}
