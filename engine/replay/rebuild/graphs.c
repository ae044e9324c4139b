/* Recorded graphs, node by node. */
#include <stdlib.h>

#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/operations.h"

static int add_kernel(struct nb_replay *replay, uint32_t copy, uint32_t index, CUgraph graph,
                      CUgraphNode *node)
{
    struct nb_launch_call call;
    NB_TRY(nb_launch_prepare(replay, copy, index, &call));
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, call.parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &call.parameter_bytes, CU_LAUNCH_PARAM_END};
    const CUDA_KERNEL_NODE_PARAMS_v2 parameters = {
        .func = call.function,
        .gridDimX = call.config.gridDimX,
        .gridDimY = call.config.gridDimY,
        .gridDimZ = call.config.gridDimZ,
        .blockDimX = call.config.blockDimX,
        .blockDimY = call.config.blockDimY,
        .blockDimZ = call.config.blockDimZ,
        .sharedMemBytes = call.config.sharedMemBytes,
        .extra = call.parameter_bytes != 0 ? extra : NULL,
    };
    if (call.settings)
        NB_TRY(
            nb_code_apply_settings(replay, call.function, replay->reader.operations[index].as.launch.kernel));
    NB_TRY(NB_CALL(replay, cuGraphAddKernelNode_v2, node, graph, NULL, 0, &parameters));
    for (unsigned i = 0; i < call.config.numAttrs; i++)
        NB_TRY(NB_CALL(replay, cuGraphKernelNodeSetAttribute, *node, call.config.attrs[i].id,
                       &call.config.attrs[i].value));
    return NB_REPLAY_OK;
}

static int add_set(struct nb_replay *replay, uint32_t copy, uint32_t index, CUgraph graph, CUgraphNode *node)
{
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    CUDA_MEMSET_NODE_PARAMS parameters = {
        .pitch = (size_t)operation->as.set.pitch,
        .value = operation->as.set.value,
        .elementSize = operation->as.set.element_bytes,
        .width = (size_t)operation->as.set.width,
        .height = (size_t)operation->as.set.height,
    };
    NB_TRY(nb_set_prepare(replay, copy, index, &parameters.dst));
    return NB_CALL(replay, cuGraphAddMemsetNode, node, graph, NULL, 0, &parameters, replay->context);
}

static int add_copy(struct nb_replay *replay, uint32_t copy, uint32_t index, CUgraph graph, CUgraphNode *node)
{
    CUDA_MEMCPY3D parameters;
    NB_TRY(nb_copy_prepare(replay, copy, index, &parameters));
    return NB_CALL(replay, cuGraphAddMemcpyNode, node, graph, NULL, 0, &parameters, replay->context);
}

static int add_node(struct nb_replay *replay, uint32_t copy, uint32_t index, CUgraph graph, CUgraphNode *node)
{
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    if (nb_operation_is_empty(operation))
        return NB_CALL(replay, cuGraphAddEmptyNode, node, graph, NULL, 0);
    switch (operation->kind) {
    case NB_OPERATION_KERNEL:
        return add_kernel(replay, copy, index, graph, node);
    case NB_OPERATION_MEMSET:
        return add_set(replay, copy, index, graph, node);
    case NB_OPERATION_MEMCPY:
    case NB_OPERATION_MEMCPY_HTOD:
        return add_copy(replay, copy, index, graph, node);
    default:
        return nb_fail(replay, NB_REPLAY_CANNOT,
                       "operation %u: a graph's node of kind %u, which this version cannot replay", index,
                       operation->kind);
    }
}

static int add_nodes(struct nb_replay *replay, uint32_t copy, CUgraphNode *nodes)
{
    struct nb_program_graph *graphs = replay->operations.programs[copy].graphs;
    for (uint32_t i = 0; i < replay->reader.operation_count; i++) {
        const uint32_t number = replay->reader.operations[i].graph;
        if (number == 0)
            continue;
        struct nb_program_graph *graph = &graphs[number - 1];
        if (graph->graph == NULL)
            NB_TRY(NB_CALL(replay, cuGraphCreate, &graph->graph, 0));
        NB_TRY(add_node(replay, copy, i, graph->graph, &nodes[i]));
    }
    return NB_REPLAY_OK;
}

static int add_edges(struct nb_replay *replay, uint32_t copy, const CUgraphNode *nodes)
{
    if (replay->reader.edge_count != 0 && replay->driver.cuGraphAddDependencies_v2 == NULL)
        return nb_fail(replay, NB_REPLAY_CANNOT, "graphs with edges need a driver for CUDA 12.3 or newer");
    for (uint32_t i = 0; i < replay->reader.edge_count; i++) {
        const struct nb_capture_edge *edge = &replay->reader.edges[i];
        const uint32_t number = replay->reader.operations[edge->from].graph;
        const CUgraphEdgeData data = {
            .from_port = edge->from_port, .to_port = edge->to_port, .type = edge->type};
        NB_TRY(NB_CALL(replay, cuGraphAddDependencies_v2,
                       replay->operations.programs[copy].graphs[number - 1].graph, &nodes[edge->from],
                       &nodes[edge->to], &data, 1));
    }
    return NB_REPLAY_OK;
}

/* Upload now: otherwise the first launch would. */
static int upload(struct nb_replay *replay, const struct nb_program_graph *graphs)
{
    for (uint32_t i = 0; i < replay->reader.graph_count; i++) {
        if (graphs[i].executable == NULL)
            continue;
        const CUresult result = replay->driver.cuGraphUpload(graphs[i].executable, replay->streams.timed);
        if (result != CUDA_ERROR_NOT_SUPPORTED)
            NB_TRY(nb_called(replay, result, "cuGraphUpload"));
    }
    return NB_REPLAY_OK;
}

static int instantiate(struct nb_replay *replay, uint32_t copy, const CUgraphNode *nodes)
{
    struct nb_program_graph *graphs = replay->operations.programs[copy].graphs;
    for (uint32_t i = 0; i < replay->reader.operation_count; i++) {
        const struct nb_capture_operation *operation = &replay->reader.operations[i];
        if ((operation->flags & NB_OPERATION_NODE_PRIORITIES) != 0)
            graphs[operation->as.graph.graph - 1].flags = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    }
    for (uint32_t i = 0; i < replay->reader.graph_count; i++)
        if (graphs[i].graph != NULL)
            NB_TRY(NB_CALL(replay, cuGraphInstantiateWithFlags, &graphs[i].executable, graphs[i].graph,
                           graphs[i].flags));
    for (uint32_t i = 0; i < replay->reader.operation_count; i++) {
        const struct nb_capture_operation *operation = &replay->reader.operations[i];
        if (operation->graph != 0 && (operation->flags & NB_OPERATION_DISABLED) != 0)
            NB_TRY(
                NB_CALL(replay, cuGraphNodeSetEnabled, graphs[operation->graph - 1].executable, nodes[i], 0));
    }
    return upload(replay, graphs);
}

int nb_graphs_build(struct nb_replay *replay, uint32_t copy)
{
    struct nb_program *program = &replay->operations.programs[copy];
    if (replay->reader.graph_count == 0)
        return NB_REPLAY_OK;
    program->graphs = nb_new(replay, replay->reader.graph_count, sizeof *program->graphs);
    CUgraphNode *nodes = nb_new(replay, replay->reader.operation_count, sizeof *nodes);
    int status = program->graphs == NULL || nodes == NULL ? NB_REPLAY_CANNOT : NB_REPLAY_OK;
    if (status == NB_REPLAY_OK)
        status = add_nodes(replay, copy, nodes);
    if (status == NB_REPLAY_OK)
        status = add_edges(replay, copy, nodes);
    if (status == NB_REPLAY_OK)
        status = instantiate(replay, copy, nodes);
    free(nodes);
    return status;
}

void nb_graphs_close(struct nb_replay *replay, struct nb_program *program)
{
    for (uint32_t i = 0; program->graphs != NULL && i < replay->reader.graph_count; i++) {
        if (replay->gone != NB_REPLAY_OK)
            break;
        if (program->graphs[i].executable != NULL)
            replay->driver.cuGraphExecDestroy(program->graphs[i].executable);
        if (program->graphs[i].graph != NULL)
            replay->driver.cuGraphDestroy(program->graphs[i].graph);
    }
    free(program->graphs);
}
