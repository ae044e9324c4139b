/* Traces executable graphs: their kernels are listed when they are instantiated, and launches refer to the
 * list. */
#include <cuda.h>

#include <errno.h>
#include <stdlib.h>

#include "core/base/vector.h"
#include "core/driver/slots.h"
#include "core/maps/graphmap.h"
#include "core/probe/mailbox.h"
#include "core/process/call.h"
#include "core/region/region.h"
#include "cuda/graph/capture.h"
#include "cuda/graph/node.h"
#include "cuda/kernel/function.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/parameters.h"
#include "cuda/memory/foreign.h"
#include "cuda/probe/graph.h"
#include "cuda/probe/kernel.h"
#include "cuda/time/launch_time.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* A graph that is being listed. */
struct listing {
    struct nb_thread *thread;
    uint64_t number;
    uint32_t nodes, opaque, kernels;
    struct nb_vector listed; /* of struct nb_graph_kernel */
    const char *unprobed;    /* why no probe follows its kernels; NULL: probes do */
};

static void skip_probe(const struct listing *listing, CUfunction function, const char *why)
{
    const struct nb_description *description = nb_find_description(function);
    if (nb_probing() && why != NULL && description != NULL)
        nb_probe_skip_kernel(&(struct nb_call){.thread = listing->thread}, description->number, why);
}

static CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS *node)
{
    return node->func != NULL ? node->func : (CUfunction)node->kern;
}

static void write_node(const struct listing *listing, uint32_t position, const CUDA_KERNEL_NODE_PARAMS *node)
{
    CUfunction function = function_of(node);
    const struct nb_description *description = nb_describe(listing->thread, function);
    if (description == NULL)
        return;
    const struct nb_parameters parameters =
        nb_locate_parameters(description, node->kernelParams, node->extra);
    const size_t size = (sizeof(struct nb_graph_node) + parameters.kept_bytes + 7) & ~(size_t)7;
    struct nb_graph_node *record = nb_ring_reserve(listing->thread, size);
    if (record == NULL)
        return;
    const uint64_t now = nb_clock();
    memset(record, 0, size);
    record->record = (struct nb_record){
        .size = (uint32_t)size, .kind = NB_RECORD_GRAPH_NODE, .begin = now, .end = now, .count = position};
    record->graph = listing->number;
    record->kernel = description->number;
    const uint32_t grid[] = {node->gridDimX, node->gridDimY, node->gridDimZ};
    const uint32_t block[] = {node->blockDimX, node->blockDimY, node->blockDimZ};
    memcpy(record->grid, grid, sizeof grid);
    memcpy(record->block, block, sizeof block);
    record->shared_bytes = node->sharedMemBytes;
    record->flags = node->kernelParams == NULL && node->extra != NULL ? NB_LAUNCH_EXTRA : 0;
    record->parameter_bytes = parameters.bytes;
    record->kept_bytes = parameters.kept_bytes;
    nb_copy_parameters(&parameters, description, (unsigned char *)(record + 1));
    nb_ring_commit(listing->thread, size);
}

static void write_graph(const struct listing *listing, uint64_t handle)
{
    struct nb_graph *record = nb_ring_reserve(listing->thread, sizeof *record);
    if (record == NULL)
        return;
    const uint64_t now = nb_clock();
    *record = (struct nb_graph){.record = {.size = sizeof *record,
                                           .kind = NB_RECORD_GRAPH,
                                           .begin = now,
                                           .end = now,
                                           .count = listing->kernels},
                                .graph = listing->number,
                                .handle = handle,
                                .nodes = listing->nodes,
                                .opaque = listing->opaque};
    nb_ring_commit(listing->thread, sizeof *record);
}

static void list_graph(struct listing *listing, CUgraph graph, int depth);

static void list_node(struct listing *listing, CUgraphNode node, int depth)
{
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS parameters;
    CUgraph child = NULL;
    struct nb_graph_kernel kernel = {.node = nb_handle(node)};
    listing->nodes++;
    if (NB_REAL(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS) {
        listing->opaque++;
    } else if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
        const bool is_known = nb_graph_kernel_parameters(node, &parameters) == CUDA_SUCCESS;
        kernel.function = is_known ? nb_handle(function_of(&parameters)) : 0;
        if (is_known && nb_vector_append(&listing->listed, &kernel)) {
            write_node(listing, listing->kernels++, &parameters);
            skip_probe(listing, function_of(&parameters), listing->unprobed);
        } else
            listing->opaque++;
    } else if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
        if (depth < NB_GRAPH_DEPTH_MAX &&
            NB_REAL(cuGraphChildGraphNodeGetGraph)(node, &child) == CUDA_SUCCESS)
            list_graph(listing, child, depth + 1);
        else
            listing->opaque++;
    } else if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        listing->opaque++; /* its body runs kernels; the device decides how often */
    }
}

static void list_graph(struct listing *listing, CUgraph graph, int depth)
{
    size_t count;
    CUgraphNode *nodes = nb_graph_nodes(graph, &count);
    if (nodes == NULL && count != 0)
        listing->opaque++;
    for (size_t i = 0; nodes != NULL && i < count; i++)
        list_node(listing, nodes[i], depth);
    free(nodes);
}

static void publish(struct listing *listing, CUgraphExec exec)
{
    write_graph(listing, nb_handle(exec));
    struct nb_graph_entry *entry = calloc(1, sizeof *entry + listing->kernels * sizeof *entry->kernels);
    if (entry != NULL) {
        entry->number = listing->number;
        entry->nodes = listing->nodes;
        entry->opaque = listing->opaque;
        entry->kernel_count = listing->kernels;
        if (listing->kernels != 0)
            memcpy(entry->kernels, listing->listed.items, listing->kernels * sizeof *entry->kernels);
        nb_graphmap_set(nb_handle(exec), entry);
    }
    nb_vector_free(&listing->listed);
}

static void trace_instantiation(const struct nb_call *call, CUresult result, const CUgraphExec *exec,
                                CUgraph graph, uint64_t flags)
{
    if (result != CUDA_SUCCESS || exec == NULL || !nb_hook_enter(call))
        return;
    const int saved = errno;
    struct listing listing = {.thread = call->thread,
                              .number = nb_graphmap_next_number(),
                              .listed = NB_VECTOR_INITIALIZER(struct nb_graph_kernel)};
    if (!nb_probes_graphs(flags))
        listing.unprobed = "the device can launch its graph";
    list_graph(&listing, graph, 0);
    publish(&listing, *exec);
    if (nb_probing())
        nb_probe_instantiated(call, *exec, graph, flags);
    if (nb_capture_enabled())
        nb_capture_instantiate_graph(call, *exec, graph, flags);
    errno = saved;
    nb_hook_leave(call);
}

void nb_post_graph_add_node(const struct nb_call *call, CUresult result, CUgraphNode *phGraphNode,
                            CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                            CUgraphNodeParams *nodeParams)
{
    (void)call, (void)hGraph, (void)dependencies, (void)numDependencies;
    if (!nb_probing() || result != CUDA_SUCCESS || phGraphNode == NULL || nodeParams == NULL)
        return;
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        nb_foreign_add_of_graph(nodeParams->alloc.dptr, nodeParams->alloc.bytesize);
    else if (nodeParams->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        nb_probe_conditional_added(*phGraphNode, &nodeParams->conditional);
}

void nb_post_graph_add_node_with_edges(const struct nb_call *call, CUresult result, CUgraphNode *phGraphNode,
                                       CUgraph hGraph, const CUgraphNode *dependencies,
                                       const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                       CUgraphNodeParams *nodeParams)
{
    (void)dependencyData;
    nb_post_graph_add_node(call, result, phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

void nb_post_graph_instantiate_log(const struct nb_call *call, CUresult result, CUgraphExec *phGraphExec,
                                   CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                                   size_t bufferSize)
{
    (void)phErrorNode, (void)logBuffer, (void)bufferSize;
    trace_instantiation(call, result, phGraphExec, hGraph, 0);
}

void nb_post_graph_instantiate_flags(const struct nb_call *call, CUresult result, CUgraphExec *phGraphExec,
                                     CUgraph hGraph, unsigned long long flags)
{
    trace_instantiation(call, result, phGraphExec, hGraph, flags);
}

void nb_post_graph_instantiate_params(const struct nb_call *call, CUresult result, CUgraphExec *phGraphExec,
                                      CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    if (result == CUDA_SUCCESS && instantiateParams != NULL)
        trace_instantiation(call, result, phGraphExec, hGraph, instantiateParams->flags);
}

static void trace_update(const struct nb_call *call, CUresult result, CUgraphExec exec, CUgraph graph)
{
    const struct nb_graph_entry *entry = nb_graphmap_get(nb_handle(exec));
    if (result != CUDA_SUCCESS || entry == NULL || !nb_hook_enter(call))
        return;
    const int saved = errno;
    struct listing listing = {.thread = call->thread,
                              .number = entry->number,
                              .listed = NB_VECTOR_INITIALIZER(struct nb_graph_kernel),
                              .unprobed = "the program updated its graph"};
    nb_probe_graph_changed(exec, NULL);
    list_graph(&listing, graph, 0);
    publish(&listing, exec);
    if (nb_capture_enabled())
        nb_capture_update_graph(call, exec, graph);
    errno = saved;
    nb_hook_leave(call);
}

void nb_post_graph_exec_update_v1(const struct nb_call *call, CUresult result, CUgraphExec hGraphExec,
                                  CUgraph hGraph, CUgraphNode *hErrorNode_out,
                                  CUgraphExecUpdateResult *updateResult_out)
{
    (void)hErrorNode_out, (void)updateResult_out;
    trace_update(call, result, hGraphExec, hGraph);
}

void nb_post_graph_exec_update(const struct nb_call *call, CUresult result, CUgraphExec hGraphExec,
                               CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    (void)resultInfo;
    trace_update(call, result, hGraphExec, hGraph);
}

/* A node of an executable graph was changed: write its record again, with the same position. */
static void trace_kernel_change(const struct nb_call *call, CUresult result, CUgraphExec exec,
                                CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    struct nb_graph_entry *entry = nb_graphmap_get(nb_handle(exec));
    if (result != CUDA_SUCCESS || entry == NULL || parameters == NULL || !nb_hook_enter(call))
        return;
    const int saved = errno;
    const struct listing listing = {.thread = call->thread,
                                    .number = entry->number,
                                    .nodes = entry->nodes,
                                    .opaque = entry->opaque,
                                    .kernels = entry->kernel_count};
    for (uint32_t position = 0; position < entry->kernel_count; position++)
        if (entry->kernels[position].node == nb_handle(node)) {
            __atomic_store_n(&entry->kernels[position].function, nb_handle(function_of(parameters)),
                             __ATOMIC_RELAXED);
            write_node(&listing, position, parameters);
            nb_probe_graph_changed(exec, node);
            skip_probe(&listing, function_of(parameters), "the program changed its node of a graph");
            write_graph(&listing, nb_handle(exec));
        }
    if (nb_capture_enabled())
        nb_capture_change_graph_kernel(call, exec, node, parameters);
    errno = saved;
    nb_hook_leave(call);
}

void nb_post_graph_exec_kernel_node_set_params_v1(const struct nb_call *call, CUresult result,
                                                  CUgraphExec hGraphExec, CUgraphNode hNode,
                                                  const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS newer = {0};
    if (result != CUDA_SUCCESS || nodeParams == NULL)
        return;
    memcpy(&newer, nodeParams, sizeof *nodeParams);
    trace_kernel_change(call, result, hGraphExec, hNode, &newer);
}

void nb_post_graph_exec_kernel_node_set_params(const struct nb_call *call, CUresult result,
                                               CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    trace_kernel_change(call, result, hGraphExec, hNode, nodeParams);
}

static void capture_copy_change(const struct nb_call *call, CUgraphExec exec, CUgraphNode node,
                                const CUDA_MEMCPY3D *parameters)
{
    if (!nb_capture_enabled() || parameters == NULL || !nb_hook_enter(call))
        return;
    nb_capture_change_graph_copy(exec, node, parameters);
    nb_hook_leave(call);
}

static void capture_memset_change(const struct nb_call *call, CUgraphExec exec, CUgraphNode node,
                                  const CUDA_MEMSET_NODE_PARAMS *parameters)
{
    if (!nb_capture_enabled() || parameters == NULL || !nb_hook_enter(call))
        return;
    nb_capture_change_graph_memset(exec, node, parameters);
    nb_hook_leave(call);
}

/* The kernels of the new child are not listed. */
static void trace_child_change(const struct nb_call *call, CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    struct nb_graph_entry *entry = nb_graphmap_get(nb_handle(exec));
    if (!nb_hook_enter(call))
        return;
    const int saved = errno;
    if (entry != NULL) {
        const struct listing listing = {.thread = call->thread,
                                        .number = entry->number,
                                        .nodes = entry->nodes,
                                        .opaque = __atomic_add_fetch(&entry->opaque, 1, __ATOMIC_RELAXED),
                                        .kernels = entry->kernel_count};
        write_graph(&listing, nb_handle(exec));
        nb_probe_child_changed(call, exec, node, child);
    }
    if (nb_capture_enabled())
        nb_capture_change_graph_child(call, exec, node, child);
    errno = saved;
    nb_hook_leave(call);
}

void nb_post_graph_exec_memcpy_node_set_params(const struct nb_call *call, CUresult result,
                                               CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    (void)ctx;
    if (result == CUDA_SUCCESS)
        capture_copy_change(call, hGraphExec, hNode, copyParams);
}

void nb_post_graph_exec_memset_node_set_params(const struct nb_call *call, CUresult result,
                                               CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    (void)ctx;
    if (result == CUDA_SUCCESS)
        capture_memset_change(call, hGraphExec, hNode, memsetParams);
}

void nb_post_graph_exec_child_node_set_params(const struct nb_call *call, CUresult result,
                                              CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph)
{
    if (result == CUDA_SUCCESS)
        trace_child_change(call, hGraphExec, hNode, childGraph);
}

/* The newest parameter structures begin with the older ones. */
void nb_post_graph_exec_node_set_params(const struct nb_call *call, CUresult result, CUgraphExec hGraphExec,
                                        CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS set;
    if (result != CUDA_SUCCESS || nodeParams == NULL || nb_graphmap_get(nb_handle(hGraphExec)) == NULL)
        return;
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        memcpy(&kernel, &nodeParams->kernel, sizeof kernel);
        trace_kernel_change(call, result, hGraphExec, hNode, &kernel);
    } else if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEMSET) {
        memcpy(&set, &nodeParams->memset, sizeof set);
        capture_memset_change(call, hGraphExec, hNode, &set);
    } else if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        capture_copy_change(call, hGraphExec, hNode, &nodeParams->memcpy.copyParams);
    } else if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        trace_child_change(call, hGraphExec, hNode, nodeParams->graph.graph);
    }
}

void nb_post_graph_node_set_enabled(const struct nb_call *call, CUresult result, CUgraphExec hGraphExec,
                                    CUgraphNode hNode, unsigned int isEnabled)
{
    if (result != CUDA_SUCCESS || !nb_capture_enabled() || !nb_hook_enter(call))
        return;
    nb_capture_enable_graph_node(hGraphExec, hNode, isEnabled != 0);
    nb_hook_leave(call);
}

void nb_post_graph_exec_destroy(const struct nb_call *call, CUresult result, CUgraphExec hGraphExec)
{
    if (result != CUDA_SUCCESS || call->thread == NULL)
        return;
    nb_graphmap_set(nb_handle(hGraphExec), NULL);
    nb_probe_graph_destroyed(hGraphExec);
    if (nb_capture_enabled())
        nb_capture_destroy_graph(hGraphExec);
}

CUresult nb_wrap_graph_launch(const struct nb_call *call, nb_cuGraphLaunch_t real, CUgraphExec hGraphExec,
                              CUstream hStream)
{
    const bool is_captured = nb_capture_enabled() && call->thread != NULL;
    struct nb_capture_graph_launch launch = {.is_counted = false};
    if (is_captured)
        launch = nb_capture_begin_graph_launch(call, hGraphExec, hStream);
    struct nb_probed_graph *probed = nb_probing() ? nb_probe_graph_begin(call, hGraphExec, hStream) : NULL;
    struct nb_event_pair *pair =
        nb_timing_launches() && call->thread != NULL ? nb_launch_time_begin(call, hStream) : NULL;
    const uint64_t begin = pair != NULL ? nb_clock() : call->begin; /* without the start event */
    const CUresult result = real(hGraphExec, hStream);
    if (call->thread == NULL)
        return result;
    const uint64_t end = nb_clock();
    const struct nb_graph_entry *entry = nb_graphmap_get(nb_handle(hGraphExec));
    const uint64_t graph = entry != NULL ? entry->number : 0;
    const uint64_t number = pair != NULL ? nb_launch_time_number(pair) : 0;
    const size_t size = sizeof(struct nb_graph_launch) + (pair != NULL ? sizeof number : 0);
    struct nb_graph_launch *record = nb_ring_reserve(call->thread, size);
    if (record != NULL) {
        *record = (struct nb_graph_launch){.record = {.size = (uint32_t)size,
                                                      .kind = NB_RECORD_GRAPH_LAUNCH,
                                                      .slot = (uint16_t)call->slot,
                                                      .begin = begin,
                                                      .end = end,
                                                      .result = (int32_t)result,
                                                      .count = pair != NULL},
                                           .graph = graph,
                                           .stream = nb_handle(hStream)};
        memcpy(record + 1, &number, size - sizeof *record);
        nb_ring_commit(call->thread, size);
    }
    if (pair != NULL)
        nb_launch_time_end(call, pair, result, 0, graph);
    if (probed != NULL)
        nb_probe_graph_end(call, probed, hStream, result);
    if (is_captured)
        nb_capture_end_graph_launch(call, launch, hStream, result);
    nb_call_leave(call, end);
    return result;
}
