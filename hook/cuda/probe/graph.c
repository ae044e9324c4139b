#include "cuda/probe/graph.h"

#include <stdlib.h>

#include "core/base/handle_map.h"
#include "core/driver/slots.h"
#include "core/probe/mailbox.h"
#include "cuda/graph/node.h"
#include "cuda/kernel/function.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/stream.h"
#include "cuda/probe/kernel.h"
#include "cuda/probe/launch.h"
#include "real.h"
#include "surface.h"

struct node {
    CUgraphNode handle;               /* NULL: the program has changed it */
    struct nb_probed_launch *probed;  /* its kernel and its maps */
    struct nb_probed_launch *current; /* of the launch that is being made */
};

struct nb_probed_graph {
    CUcontext context;
    CUevent event; /* recorded behind the copies of each launch: the next one waits for it, on any stream */
    size_t count;
    struct node nodes[];
};

static struct nb_handle_map graphs = NB_HANDLE_MAP_INITIALIZER; /* by CUgraphExec */

static void skip(const struct nb_call *call, CUfunction function, const char *why)
{
    const struct nb_description *description = nb_find_description(function);
    if (description != NULL)
        nb_probe_skip_kernel(call, description->number, why);
}

/* Blocks of these nodes wait for each other: a probed kernel with more registers might not start. */
static bool needs_all_blocks(CUgraphNode node)
{
    CUkernelNodeAttrValue cooperative = {0}, cluster = {0};
    if (NB_REAL(cuGraphKernelNodeGetAttribute)(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative) !=
        CUDA_SUCCESS)
        return true;
    return cooperative.cooperative != 0 ||
           (NB_REAL(cuGraphKernelNodeGetAttribute)(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster) ==
                CUDA_SUCCESS &&
            cluster.clusterDim.x * cluster.clusterDim.y * cluster.clusterDim.z > 1);
}

static bool probe_node(const struct nb_call *call, CUgraphExec exec, struct node *node)
{
    CUDA_KERNEL_NODE_PARAMS given;
    if (nb_graph_kernel_parameters(node->handle, &given) != CUDA_SUCCESS)
        return false;
    const struct nb_launch_form form = {.function = given.func != NULL ? given.func : (CUfunction)given.kern,
                                        .grid = {given.gridDimX, given.gridDimY, given.gridDimZ},
                                        .block = {given.blockDimX, given.blockDimY, given.blockDimZ},
                                        .shared_bytes = given.sharedMemBytes,
                                        .kernelParams = given.kernelParams,
                                        .extra = given.extra};
    if (nb_describe(call->thread, form.function) == NULL)
        return false;
    if (needs_all_blocks(node->handle)) {
        skip(call, form.function, "it is a cooperative node of a graph, or one with clusters");
        return false;
    }
    node->probed = nb_probe_make_node(call, &form);
    if (node->probed == NULL)
        return false;
    CUDA_KERNEL_NODE_PARAMS probed = given;
    probed.func = node->probed->function;
    probed.kern = NULL;
    probed.kernelParams = node->probed->parameters;
    probed.extra = NULL;
    if (NB_REAL(cuGraphExecKernelNodeSetParams_v2)(exec, node->handle, &probed) == CUDA_SUCCESS)
        return true;
    skip(call, form.function, "the driver refuses the probed kernel as a node of a graph");
    nb_probe_free_node(node->probed, NB_PROBE_IDLE);
    return false;
}

static bool is_kernel(CUgraphNode node)
{
    CUgraphNodeType type;
    return NB_REAL(cuGraphNodeGetType)(node, &type) == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_KERNEL;
}

bool nb_probes_graphs(uint64_t flags)
{
    /* A graph that the device launches gets no content for its maps. HIP's shim lacks the call. */
    return NB_HAS(cuGraphExecKernelNodeSetParams_v2) &&
           (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) == 0;
}

/* Other streams of this thread may be in capture, where loading and allocating would be refused. */
static CUstreamCaptureMode exchange_mode(CUstreamCaptureMode mode)
{
    NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return mode;
}

void nb_probe_instantiated(const struct nb_call *call, CUgraphExec exec, CUgraph graph, uint64_t flags)
{
    size_t count = 0;
    if (!nb_probes_graphs(flags))
        return;
    const CUstreamCaptureMode mode = exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUgraphNode *nodes = nb_graph_nodes(graph, &count);
    struct nb_probed_graph *made =
        nodes != NULL ? calloc(1, sizeof *made + count * sizeof *made->nodes) : NULL;
    if (made != NULL && NB_REAL(cuCtxGetCurrent)(&made->context) == CUDA_SUCCESS &&
        NB_REAL(cuEventCreate)(&made->event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS) {
        for (size_t i = 0; i < count; i++) {
            made->nodes[made->count] = (struct node){.handle = nodes[i]};
            if (is_kernel(nodes[i]) && probe_node(call, exec, &made->nodes[made->count]))
                made->count++;
        }
    }
    free(nodes);
    if (made != NULL && (made->count == 0 || !nb_handle_map_set(&graphs, nb_handle(exec), made))) {
        if (made->event != NULL)
            NB_REAL(cuEventDestroy_v2)(made->event);
        free(made);
    }
    exchange_mode(mode);
}

void nb_probe_graph_changed(CUgraphExec exec, CUgraphNode node)
{
    struct nb_probed_graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    for (size_t i = 0; graph != NULL && i < graph->count; i++)
        if (node == NULL || graph->nodes[i].handle == node)
            graph->nodes[i].handle = NULL;
}

void nb_probe_graph_destroyed(CUgraphExec exec)
{
    struct nb_probed_graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    if (graph == NULL)
        return;
    nb_handle_map_set(&graphs, nb_handle(exec), NULL);
    const bool is_idle = NB_REAL(cuEventQuery)(graph->event) == CUDA_SUCCESS;
    for (size_t i = 0; i < graph->count; i++)
        nb_probe_free_node(graph->nodes[i].probed, is_idle ? NB_PROBE_IDLE : NB_PROBE_BUSY);
    NB_REAL(cuEventDestroy_v2)(graph->event);
    graph->count = 0; /* the map's values are never freed */
}

struct nb_probed_graph *nb_probe_graph_begin(const struct nb_call *call, CUgraphExec exec, CUstream stream)
{
    struct nb_probed_graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    CUcontext context = NULL;
    if (graph == NULL || call->thread == NULL || nb_stream_is_captured(call, stream) ||
        NB_REAL(cuCtxGetCurrent)(&context) != CUDA_SUCCESS || context != graph->context)
        return NULL;
    const CUstreamCaptureMode mode = exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    nb_probe_collect(call);
    const bool is_ordered =
        NB_REAL(cuStreamWaitEvent)(nb_stream_resolve(call, stream), graph->event, 0) == CUDA_SUCCESS;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i].current = is_ordered && graph->nodes[i].handle != NULL
                                      ? nb_probe_begin_node(call, graph->nodes[i].probed, stream)
                                      : NULL;
    exchange_mode(mode);
    return graph;
}

void nb_probe_graph_end(const struct nb_call *call, struct nb_probed_graph *graph, CUstream stream,
                        CUresult result)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i].current != NULL)
            nb_probe_end_node(call, graph->nodes[i].current, result);
    NB_REAL(cuEventRecord)(graph->event, nb_stream_resolve(call, stream));
}

static int take_of_context(const void *value, uint64_t context)
{
    struct nb_probed_graph *graph = (struct nb_probed_graph *)(uintptr_t)value;
    if (context != 0 && nb_handle(graph->context) != context)
        return 0;
    for (size_t i = 0; i < graph->count; i++)
        nb_probe_free_node(graph->nodes[i].probed, NB_PROBE_GONE);
    graph->count = 0;
    return 1;
}

void nb_probe_forget_context(const struct nb_call *call, uint64_t context)
{
    nb_probe_forget_kernels(context);
    nb_handle_map_remove_if(&graphs, take_of_context, context);
    nb_probe_forget_launches(call, (CUcontext)context);
}

static void forget(void)
{
    nb_handle_map_forget(&graphs);
}

const struct nb_component nb_probe_graph_component = {.locks = {&graphs.lock}, .forget = forget};
