/* probed MODE...: launches of one module in every form, whose results depend on what the module's variables
 * hold. Each mode prints a line. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "scale.h"

static const char text[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .const .align 4 .u32 weight;\n"
    ".visible .global .align 4 .u32 total;\n"
    ".visible .entry add(.param .u64 values, .param .u32 count)\n"
    "{\n"
    "  .reg .pred %p<2>;\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [values];\n  ld.param.u32 %r1, [count];\n"
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n"
    "  mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p1, %r5, %r1;\n  @%p1 bra done;\n"
    "  cvta.to.global.u64 %rd1, %rd1;\n  mul.wide.u32 %rd2, %r5, 4;\n  add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.const.u32 %r6, [weight];\n  ld.global.u32 %r7, [%rd3];\n  add.u32 %r7, %r7, %r6;\n"
    "  st.global.u32 [%rd3], %r7;\n  atom.global.add.u32 %r8, [total], 1;\n"
    "done:\n  ret;\n}\n"
    ".visible .entry empty()\n{\n  ret;\n}\n";

enum { COUNT = 100, BLOCK = 32, BLOCKS = 4 };

static CUmodule module;
static CUfunction add, empty;
static CUdeviceptr values;
static unsigned count = COUNT;
static void *parameters[] = {&values, &count};
static CUcontext context;

static void set_variable(const char *name, unsigned value)
{
    CUdeviceptr at;
    CHECK(cuModuleGetGlobal(&at, NULL, module, name));
    CHECK(cuMemcpyHtoD(at, &value, sizeof value));
}

static unsigned get_variable(const char *name)
{
    CUdeviceptr at;
    unsigned value;
    CHECK(cuModuleGetGlobal(&at, NULL, module, name));
    CHECK(cuMemcpyDtoH(&value, at, sizeof value));
    return value;
}

static void load(void)
{
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&add, module, "add"));
    CHECK(cuModuleGetFunction(&empty, module, "empty"));
    set_variable("weight", 7);
}

static void launch_plain(CUstream stream)
{
    CHECK(cuLaunchKernel(add, BLOCKS, 1, 1, BLOCK, 1, 1, 0, stream, parameters, NULL));
}

/* The driver refuses a block of 2,048 threads, probed or not. */
static void launch_refused(void)
{
    if (cuLaunchKernel(add, 1, 1, 1, 2048, 1, 1, 0, NULL, parameters, NULL) == CUDA_SUCCESS)
        exit(1);
}

static void launch_packed(void)
{
    struct {
        CUdeviceptr values;
        unsigned count;
    } packed = {values, count};
    size_t bytes = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(add, BLOCKS, 1, 1, BLOCK, 1, 1, 0, NULL, NULL, extra));
}

static void launch_configured(void)
{
    CUlaunchConfig config = {
        .gridDimX = BLOCKS, .gridDimY = 1, .gridDimZ = 1, .blockDimX = BLOCK, .blockDimY = 1, .blockDimZ = 1};
    CHECK(cuLaunchKernelEx(&config, add, parameters, NULL));
}

static void launch_captured(void)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_plain(stream);
    launch_plain(stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
}

/* Two launches in one graph, whose executable is launched on two streams in turn, then with a node that the
 * program has changed, then with what an update gives it. */
static void launch_graphs(void)
{
    CUstream streams[2];
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode nodes[2];
    size_t count = 2;
    for (int i = 0; i < 2; i++)
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_plain(streams[0]);
    launch_plain(streams[0]);
    CHECK(cuStreamEndCapture(streams[0], &graph));
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cuGraphLaunch(executable, streams[i % 2]));
    for (int i = 0; i < 2; i++)
        CHECK(cuStreamSynchronize(streams[i]));
    CUDA_KERNEL_NODE_PARAMS parameters_of_node;
    CHECK(cuGraphGetNodes(graph, nodes, &count));
    CHECK(cuGraphKernelNodeGetParams(nodes[0], &parameters_of_node));
    CHECK(cuGraphExecKernelNodeSetParams(executable, nodes[0], &parameters_of_node));
    CHECK(cuGraphLaunch(executable, streams[0]));
    CHECK(cuStreamSynchronize(streams[0]));
    CUgraphExecUpdateResultInfo info;
    CHECK(cuGraphExecUpdate(executable, graph, &info));
    CHECK(cuGraphLaunch(executable, streams[0]));
    CHECK(cuStreamSynchronize(streams[0]));
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

static CUgraph captured_graph(CUstream stream, bool is_cooperative)
{
    CUgraph graph;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (is_cooperative)
        CHECK(cuLaunchCooperativeKernel(add, BLOCKS, 1, 1, BLOCK, 1, 1, 0, stream, parameters));
    else
        launch_plain(stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* A kernel in a graph, in its child and in the child's child, launched twice; then with a child that the
 * program has changed. The program's own graphs stay as they are: another executable graph of them is
 * launched once. */
static void launch_children(void)
{
    CUstream stream;
    CUgraph graph, child, grandchild;
    CUgraphExec executable, other;
    CUgraphNode node, inner;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    graph = captured_graph(stream, false);
    child = captured_graph(stream, false);
    grandchild = captured_graph(stream, false);
    CHECK(cuGraphAddChildGraphNode(&inner, child, NULL, 0, grandchild));
    CHECK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecChildGraphNodeSetParams(executable, node, child));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuGraphInstantiate(&other, graph, 0));
    CHECK(cuGraphLaunch(other, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphExecDestroy(other));
}

/* The CPU driver's handle of a conditional node is the address of its value. */
static const char loop_text[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry count_down(.param .u64 value)\n{\n"
    "  .reg .b32 %r<3>;\n  .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd1, [value];\n  ld.global.u32 %r1, [%rd1];\n  sub.u32 %r2, %r1, 1;\n"
    "  st.global.u32 [%rd1], %r2;\n  ret;\n}\n";

static CUgraph add_conditional(CUgraph graph, CUgraphConditionalNodeType type,
                               CUgraphConditionalHandle handle)
{
    CUgraphNode node;
    CUgraphNodeParams parameters = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {.handle = handle, .type = type, .size = 1, .ctx = context},
    };
    CHECK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &parameters));
    return parameters.conditional.phGraph_out[0];
}

static CUgraphNode add_kernel(CUgraph graph, const CUgraphNode *before, CUfunction function, void **arguments)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS given = {.func = function,
                                     .gridDimX = function == add ? BLOCKS : 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = function == add ? BLOCK : 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = arguments};
    CHECK(cuGraphAddKernelNode(&node, graph, before, before != NULL, &given));
    return node;
}

/* Two launches of a graph whose kernel runs three times in a loop, inside a condition that holds, and not at
 * all inside one that does not. */
static void launch_conditional(void)
{
    CUstream stream;
    CUgraph graph, body;
    CUgraphExec executable;
    CUgraphConditionalHandle loop, holds, fails;
    CUmodule loaded;
    CUfunction count_down;
    void *arguments[] = {&loop};
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuModuleLoadData(&loaded, loop_text));
    CHECK(cuModuleGetFunction(&count_down, loaded, "count_down"));
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphConditionalHandleCreate(&holds, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CHECK(cuGraphConditionalHandleCreate(&fails, graph, context, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CHECK(cuGraphConditionalHandleCreate(&loop, graph, context, 3, CU_GRAPH_COND_ASSIGN_DEFAULT));
    body =
        add_conditional(add_conditional(graph, CU_GRAPH_COND_TYPE_IF, holds), CU_GRAPH_COND_TYPE_WHILE, loop);
    const CUgraphNode first = add_kernel(body, NULL, add, parameters);
    add_kernel(body, &first, count_down, arguments);
    add_kernel(add_conditional(graph, CU_GRAPH_COND_TYPE_IF, fails), NULL, add, parameters);
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(executable));
}

static void launch_graph(CUgraph graph, CUstream stream)
{
    CUgraphExec executable;
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(executable));
}

static void launch_cooperative_node(void)
{
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    launch_graph(captured_graph(stream, true), stream);
}

/* A cooperative node with as many blocks as the device holds of the kernel without a probe. */
static void launch_full_cooperative_node(void)
{
    CUstream stream;
    CUgraph graph;
    int resident, processors;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, add, BLOCK, 0));
    CHECK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuLaunchCooperativeKernel(add, (unsigned)(resident * processors), 1, 1, BLOCK, 1, 1, 0, stream,
                                    parameters));
    CHECK(cuStreamEndCapture(stream, &graph));
    launch_graph(graph, stream);
}

/* Clusters of two blocks. */
static void launch_cluster_node(void)
{
    CUstream stream;
    CUgraph graph;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig config = {.gridDimX = BLOCKS,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = BLOCK,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = &attribute,
                             .numAttrs = 1};
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuLaunchKernelEx(&config, add, parameters, NULL));
    CHECK(cuStreamEndCapture(stream, &graph));
    launch_graph(graph, stream);
}

/* Two streams' kernels are queued while a third one's capture is open in this thread. */
static void launch_beside_capture(void)
{
    CUstream stream;
    CUgraph graph;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUstream other;
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    CHECK(cuThreadExchangeStreamCaptureMode(&relaxed));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuThreadExchangeStreamCaptureMode(&relaxed));
    launch_plain(other);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuStreamSynchronize(other));
}

static void *launch_in_thread(void *unused)
{
    (void)unused;
    CHECK(cuCtxSetCurrent(context));
    launch_plain(NULL);
    return NULL;
}

static void launch_in_threads(void)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, launch_in_thread, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

static void launch_reloaded(void)
{
    launch_plain(NULL);
    CHECK(cuCtxSynchronize());
    CHECK(cuModuleUnload(module));
    load();
    set_variable("weight", 1);
    launch_plain(NULL);
}

/* The module is unloaded before anything waits for its launch. */
static void unload_at_once(void)
{
    launch_plain(NULL);
    CHECK(cuModuleUnload(module));
    load();
}

/* The program destroys a context without a wait for its last launch. */
static void destroy_at_once(void)
{
    CUcontext own;
    const CUdeviceptr before = values;
    CHECK(cuCtxCreate(&own, NULL, 0, 0));
    load();
    CHECK(cuMemAlloc(&values, COUNT * sizeof(unsigned)));
    launch_plain(NULL);
    CHECK(cuCtxDestroy(own));
    values = before;
    CHECK(cuCtxSetCurrent(context));
    load();
}

static void reset_at_once(void)
{
    launch_plain(NULL);
    CHECK(cuDevicePrimaryCtxReset(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    load();
    CHECK(cuMemAlloc(&values, COUNT * sizeof(unsigned)));
    CHECK(cuMemsetD8(values, 0, COUNT * sizeof(unsigned)));
}

/* The primary context is made again, with the same handle and perhaps the same addresses. */
static void launch_after_reset(void)
{
    const unsigned zeros[COUNT] = {0};
    for (int i = 0; i < 3; i++) {
        CHECK(cuDevicePrimaryCtxReset(0));
        CHECK(cuDevicePrimaryCtxRetain(&context, 0));
        CHECK(cuCtxSetCurrent(context));
        load();
        CHECK(cuMemAlloc(&values, sizeof zeros));
        CHECK(cuMemcpyHtoD(values, zeros, sizeof zeros));
        launch_plain(NULL);
        CHECK(cuCtxSynchronize());
    }
}

/* Launches of two shapes in turn. */
static void launch_in_turns(int number)
{
    for (int i = 0; i < number; i++)
        CHECK(cuLaunchKernel(add, i % 2 ? BLOCKS : 2 * BLOCKS, 1, 1, i % 2 ? BLOCK : BLOCK / 2, 1, 1, 0, NULL,
                             parameters, NULL));
}

/* One kernel from each of many modules. */
static void launch_many(int number)
{
    char each[sizeof text + 64];
    for (int i = 0; i < number; i++) {
        CUmodule loaded;
        CUfunction function;
        char name[32];
        snprintf(name, sizeof name, "kernel_%d", i);
        snprintf(each, sizeof each,
                 ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry %s()\n{\n  ret;\n}\n", name);
        CHECK(cuModuleLoadData(&loaded, each));
        CHECK(cuModuleGetFunction(&function, loaded, name));
        CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    }
}

static void run(const char *mode)
{
    if (strcmp(mode, "plain") == 0)
        launch_plain(NULL);
    else if (strcmp(mode, "packed") == 0)
        launch_packed();
    else if (strcmp(mode, "configured") == 0)
        launch_configured();
    else if (strcmp(mode, "cooperative") == 0)
        CHECK(cuLaunchCooperativeKernel(add, BLOCKS, 1, 1, BLOCK, 1, 1, 0, NULL, parameters));
    else if (strcmp(mode, "empty") == 0)
        CHECK(cuLaunchKernel(empty, 2, 1, 1, 3, 1, 1, 0, NULL, NULL, NULL));
    else if (strcmp(mode, "captured") == 0)
        launch_captured();
    else if (strcmp(mode, "refused") == 0)
        launch_refused();
    else if (strcmp(mode, "graphs") == 0)
        launch_graphs();
    else if (strcmp(mode, "children") == 0)
        launch_children();
    else if (strcmp(mode, "cooperative-node") == 0)
        launch_cooperative_node();
    else if (strcmp(mode, "full-cooperative-node") == 0)
        launch_full_cooperative_node();
    else if (strcmp(mode, "cluster-node") == 0)
        launch_cluster_node();
    else if (strcmp(mode, "beside") == 0)
        launch_beside_capture();
    else if (strcmp(mode, "threads") == 0)
        launch_in_threads();
    else if (strcmp(mode, "reloaded") == 0)
        launch_reloaded();
    else if (strcmp(mode, "reset") == 0)
        launch_after_reset();
    else if (strcmp(mode, "unloaded-at-once") == 0)
        unload_at_once();
    else if (strcmp(mode, "destroyed-at-once") == 0)
        destroy_at_once();
    else if (strcmp(mode, "reset-at-once") == 0)
        reset_at_once();
    else if (strcmp(mode, "conditional") == 0)
        launch_conditional();
    else if (strncmp(mode, "turns", 5) == 0)
        launch_in_turns(atoi(mode + 5));
    else if (strncmp(mode, "many", 4) == 0)
        launch_many(atoi(mode + 4));
    else
        exit(2);
}

int main(int argc, char **argv)
{
    unsigned back[COUNT] = {0};
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    load();
    CHECK(cuMemAlloc(&values, sizeof back));
    CHECK(cuMemcpyHtoD(values, back, sizeof back));
    for (int i = 1; i < argc; i++) {
        run(argv[i]);
        CHECK(cuCtxSynchronize());
        CHECK(cuMemcpyDtoH(back, values, sizeof back));
        printf("%s: %u, %u, %u\n", argv[i], back[0], back[COUNT - 1], get_variable("total"));
    }
    return 0;
}
