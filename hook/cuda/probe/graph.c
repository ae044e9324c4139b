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
    /* The kernel's node, or the child graph's node around it. NULL: the program has changed it. */
    CUgraphNode handle;
    bool is_in_child;
    struct nb_probed_launch *probed;  /* its kernel and its maps */
    struct nb_probed_launch *current; /* of the launch that is being made */
};

struct nb_probed_graph {
    CUcontext context;
    CUevent event; /* recorded behind the copies of each launch: the next one waits for it, on any stream */
    size_t count;
    struct node *nodes;
};

/* The graphs that a conditional node chooses from. A launch runs one of them, none, or one repeatedly. */
struct bodies {
    size_t count;
    CUgraph graphs[];
};

static struct nb_handle_map graphs = NB_HANDLE_MAP_INITIALIZER;       /* by CUgraphExec */
static struct nb_handle_map conditionals = NB_HANDLE_MAP_INITIALIZER; /* by CUgraphNode */

static void skip(const struct nb_call *call, CUfunction function, const char *why)
{
    const struct nb_description *description = nb_find_description(function);
    if (description != NULL)
        nb_probe_skip_kernel(call, description->number, why);
}

/* The number of blocks of a probed kernel that the device runs at once, 0 if it is not known. */
static uint64_t resident_blocks(const struct nb_launch_form *form, CUfunction probed)
{
    int resident = 0, processors = 0;
    CUdevice device;
    const uint64_t threads = (uint64_t)form->block[0] * form->block[1] * form->block[2];
    if (NB_REAL(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&resident, probed, (int)threads,
                                                             form->shared_bytes) != CUDA_SUCCESS ||
        NB_REAL(cuCtxGetDevice)(&device) != CUDA_SUCCESS ||
        NB_REAL(cuDeviceGetAttribute)(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) !=
            CUDA_SUCCESS)
        return 0;
    return (uint64_t)resident * (uint64_t)processors;
}

/* The same for blocks in clusters, which run whole. */
static uint64_t resident_in_clusters(const struct nb_launch_form *form, CUfunction probed,
                                     CUkernelNodeAttrValue cluster)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value = cluster};
    const CUlaunchConfig config = {
        .gridDimX = form->grid[0],
        .gridDimY = form->grid[1],
        .gridDimZ = form->grid[2],
        .blockDimX = form->block[0],
        .blockDimY = form->block[1],
        .blockDimZ = form->block[2],
        .sharedMemBytes = form->shared_bytes,
        .attrs = &attribute,
        .numAttrs = 1,
    };
    int clusters = 0;
    if (!NB_HAS(cuOccupancyMaxActiveClusters) ||
        NB_REAL(cuOccupancyMaxActiveClusters)(&clusters, probed, &config) != CUDA_SUCCESS || clusters < 0)
        return 0;
    return (uint64_t)clusters * cluster.clusterDim.x * cluster.clusterDim.y * cluster.clusterDim.z;
}

/* Can all blocks that wait for each other run at once? A probed kernel may need more registers than the
 * original. A launch of a graph that fails for this reason cannot be repeated with the original. */
static bool can_start(CUgraphNode node, const struct nb_launch_form *form, CUfunction probed)
{
    CUkernelNodeAttrValue cooperative = {0}, cluster = {0};
    const CUresult known =
        NB_REAL(cuGraphKernelNodeGetAttribute)(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative);
    if (known != CUDA_SUCCESS)
        return known == CUDA_ERROR_NOT_SUPPORTED; /* HIP 5.2 has no such nodes */
    const bool is_clustered = NB_REAL(cuGraphKernelNodeGetAttribute)(
                                  node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster) == CUDA_SUCCESS &&
                              cluster.clusterDim.x * cluster.clusterDim.y * cluster.clusterDim.z > 1;
    if (!is_clustered && cooperative.cooperative == 0)
        return true;
    const uint64_t resident =
        is_clustered ? resident_in_clusters(form, probed, cluster) : resident_blocks(form, probed);
    const uint64_t blocks = (uint64_t)form->grid[0] * form->grid[1] * form->grid[2];
    return resident > 0 && (cooperative.cooperative == 0 || blocks <= resident);
}

static CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS *given)
{
    return given->func != NULL ? given->func : (CUfunction)given->kern;
}

/* The probed form of a kernel node, and its parameters; NULL: the node runs the original. */
static struct nb_probed_launch *make_node(const struct nb_call *call, CUgraphNode node,
                                          CUDA_KERNEL_NODE_PARAMS *parameters)
{
    if (nb_graph_kernel_parameters(node, parameters) != CUDA_SUCCESS)
        return NULL;
    const struct nb_launch_form form = {
        .function = function_of(parameters),
        .grid = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ},
        .block = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ},
        .shared_bytes = parameters->sharedMemBytes,
        .kernelParams = parameters->kernelParams,
        .extra = parameters->extra};
    if (nb_describe(call->thread, form.function) == NULL)
        return NULL;
    struct nb_probed_launch *probed = nb_probe_make_node(call, &form);
    if (probed == NULL)
        return NULL;
    if (!can_start(node, &form, probed->function)) {
        skip(call, form.function,
             "it is a node of a graph whose blocks must run together, and are too large with a probe");
        nb_probe_free_node(probed, NB_PROBE_IDLE);
        return NULL;
    }
    parameters->func = probed->function;
    parameters->kern = NULL;
    parameters->kernelParams = probed->parameters;
    parameters->extra = NULL;
    return probed;
}

static bool add(struct nb_probed_graph *graph, struct node node)
{
    struct node *const nodes = realloc(graph->nodes, (graph->count + 1) * sizeof *nodes);
    if (nodes == NULL)
        return false;
    graph->nodes = nodes;
    graph->nodes[graph->count++] = node;
    return true;
}

/* Gives up the probed nodes from number `first` on, before any of them is launched. */
static void take_back(struct nb_probed_graph *graph, size_t first)
{
    while (graph->count > first)
        nb_probe_free_node(graph->nodes[--graph->count].probed, NB_PROBE_IDLE);
}

static void skip_refused(const struct nb_call *call, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS given;
    if (nb_graph_kernel_parameters(node, &given) == CUDA_SUCCESS)
        skip(call, function_of(&given), "the driver refuses the probed kernel as a node of a graph");
}

static void probe_node(const struct nb_call *call, struct nb_probed_graph *graph, CUgraphExec exec,
                       CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    struct nb_probed_launch *const probed = make_node(call, node, &parameters);
    if (probed == NULL)
        return;
    if (add(graph, (struct node){.handle = node, .probed = probed}) &&
        NB_REAL(cuGraphExecKernelNodeSetParams_v2)(exec, node, &parameters) == CUDA_SUCCESS)
        return;
    if (graph->count > 0 && graph->nodes[graph->count - 1].probed == probed)
        take_back(graph, graph->count - 1);
    else
        nb_probe_free_node(probed, NB_PROBE_IDLE);
    skip_refused(call, node);
}

static CUgraphNodeType type_of(CUgraphNode node)
{
    CUgraphNodeType type;
    return NB_REAL(cuGraphNodeGetType)(node, &type) == CUDA_SUCCESS ? type : CU_GRAPH_NODE_TYPE_EMPTY;
}

/* Calls `visit` for each kernel node of a graph and of its child graphs. */
static void visit_kernels(const struct nb_call *call, CUgraph graph, int depth,
                          void (*visit)(const struct nb_call *, CUgraphNode, void *), void *argument)
{
    size_t count = 0;
    CUgraph child;
    CUgraphNode *const nodes = nb_graph_nodes(graph, &count);
    for (size_t i = 0; nodes != NULL && i < count; i++) {
        const CUgraphNodeType type = type_of(nodes[i]);
        if (type == CU_GRAPH_NODE_TYPE_KERNEL)
            visit(call, nodes[i], argument);
        else if (type == CU_GRAPH_NODE_TYPE_GRAPH && depth < NB_GRAPH_DEPTH_MAX &&
                 NB_REAL(cuGraphChildGraphNodeGetGraph)(nodes[i], &child) == CUDA_SUCCESS)
            visit_kernels(call, child, depth + 1, visit, argument);
    }
    free(nodes);
}

struct child {
    struct nb_probed_graph *graph;
    CUgraphNode handle;
};

/* A kernel node of a copy of a child graph. */
static void probe_copied(const struct nb_call *call, CUgraphNode node, void *argument)
{
    const struct child *const child = argument;
    CUDA_KERNEL_NODE_PARAMS parameters;
    struct nb_probed_launch *const probed = make_node(call, node, &parameters);
    if (probed == NULL)
        return;
    if (NB_REAL(cuGraphKernelNodeSetParams_v2)(node, &parameters) == CUDA_SUCCESS &&
        add(child->graph, (struct node){.handle = child->handle, .is_in_child = true, .probed = probed}))
        return;
    nb_probe_free_node(probed, NB_PROBE_IDLE);
    skip_refused(call, node);
}

static void skip_visited(const struct nb_call *call, CUgraphNode node, void *argument)
{
    (void)argument;
    skip_refused(call, node);
}

/* The program's child graph stays as it is: the executable graph gets the nodes of a changed copy. */
static void probe_child(const struct nb_call *call, struct nb_probed_graph *graph, CUgraphExec exec,
                        CUgraphNode node)
{
    CUgraph given, copy = NULL;
    const size_t first = graph->count;
    if (NB_REAL(cuGraphChildGraphNodeGetGraph)(node, &given) != CUDA_SUCCESS)
        return;
    bool is_done = NB_REAL(cuGraphClone)(&copy, given) == CUDA_SUCCESS;
    if (is_done) {
        visit_kernels(call, copy, 1, probe_copied, &(struct child){graph, node});
        is_done = graph->count == first ||
                  NB_REAL(cuGraphExecChildGraphNodeSetParams)(exec, node, copy) == CUDA_SUCCESS;
        NB_REAL(cuGraphDestroy)(copy);
    }
    if (!is_done) {
        take_back(graph, first);
        visit_kernels(call, given, 1, skip_visited, NULL);
    }
}

void nb_probe_conditional_added(CUgraphNode node, const CUDA_CONDITIONAL_NODE_PARAMS *parameters)
{
    const size_t count = parameters->phGraph_out != NULL ? parameters->size : 0;
    struct bodies *const bodies = calloc(1, sizeof *bodies + count * sizeof *bodies->graphs);
    if (bodies == NULL)
        return;
    bodies->count = count;
    for (size_t i = 0; i < count; i++)
        bodies->graphs[i] = parameters->phGraph_out[i];
    if (!nb_handle_map_set(&conditionals, nb_handle(node), bodies))
        free(bodies);
}

static void probe_graph(const struct nb_call *call, struct nb_probed_graph *made, CUgraphExec exec,
                        CUgraph graph, int depth)
{
    size_t count = 0;
    CUgraphNode *const nodes = nb_graph_nodes(graph, &count);
    for (size_t i = 0; nodes != NULL && i < count; i++) {
        const CUgraphNodeType type = type_of(nodes[i]);
        const struct bodies *const bodies = type == CU_GRAPH_NODE_TYPE_CONDITIONAL
                                                ? nb_handle_map_get(&conditionals, nb_handle(nodes[i]))
                                                : NULL;
        if (type == CU_GRAPH_NODE_TYPE_KERNEL)
            probe_node(call, made, exec, nodes[i]);
        else if (type == CU_GRAPH_NODE_TYPE_GRAPH)
            probe_child(call, made, exec, nodes[i]);
        for (size_t body = 0; bodies != NULL && body < bodies->count && depth < NB_GRAPH_DEPTH_MAX; body++)
            probe_graph(call, made, exec, bodies->graphs[body], depth + 1);
    }
    free(nodes);
}

bool nb_probes_graphs(uint64_t flags)
{
    /* A graph that the device launches gets no content for its maps. */
    return (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) == 0;
}

/* Other streams of this thread may be in capture, where loading and allocating would be refused. */
static CUstreamCaptureMode exchange_mode(CUstreamCaptureMode mode)
{
    NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return mode;
}

void nb_probe_instantiated(const struct nb_call *call, CUgraphExec exec, CUgraph graph, uint64_t flags)
{
    if (!nb_probes_graphs(flags))
        return;
    const CUstreamCaptureMode mode = exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    struct nb_probed_graph *made = calloc(1, sizeof *made);
    if (made != NULL && NB_REAL(cuCtxGetCurrent)(&made->context) == CUDA_SUCCESS &&
        NB_REAL(cuEventCreate)(&made->event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
        probe_graph(call, made, exec, graph, 0);
    if (made != NULL && (made->count == 0 || !nb_handle_map_set(&graphs, nb_handle(exec), made))) {
        if (made->event != NULL)
            NB_REAL(cuEventDestroy_v2)(made->event);
        free(made->nodes);
        free(made);
    }
    exchange_mode(mode);
}

void nb_probe_graph_changed(CUgraphExec exec, CUgraphNode node)
{
    struct nb_probed_graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    bool is_found = false;
    for (size_t i = 0; graph != NULL && i < graph->count; i++)
        is_found = is_found || graph->nodes[i].handle == node;
    /* Nodes in a copy of a child graph have other handles than the program's. */
    for (size_t i = 0; graph != NULL && i < graph->count; i++)
        if (node == NULL || graph->nodes[i].handle == node || (!is_found && graph->nodes[i].is_in_child))
            graph->nodes[i].handle = NULL;
}

static void skip_changed(const struct nb_call *call, CUgraphNode node, void *argument)
{
    CUDA_KERNEL_NODE_PARAMS given;
    (void)argument;
    if (nb_graph_kernel_parameters(node, &given) == CUDA_SUCCESS &&
        nb_describe(call->thread, function_of(&given)) != NULL)
        skip(call, function_of(&given), "the program changed its child graph");
}

void nb_probe_child_changed(const struct nb_call *call, CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    nb_probe_graph_changed(exec, node);
    if (nb_probing())
        visit_kernels(call, child, 1, skip_changed, NULL);
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
    nb_handle_map_forget(&conditionals);
}

const struct nb_component nb_probe_graph_component = {.locks = {&graphs.lock, &conditionals.lock},
                                                      .forget = forget};
