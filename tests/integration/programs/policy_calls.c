/* policy_calls CALL: enters the phase that CALL breaks, makes it, and prints "<returned> <effect>": the
 * driver's code, and 1 if the call had an effect that the program can see.
 *
 * Each attack has an honest call beside it, whose name begins with "honest". */
#include <cuda.h>
#include <cudaProfiler.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const CUresult result_ = (call);                                                                     \
        if (result_ != CUDA_SUCCESS) {                                                                       \
            fprintf(stderr, "line %d: %s returned %d\n", __LINE__, #call, (int)result_);                     \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static const char ptx[] =
    "\n.version 7.5\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";

static int effect;
static CUcontext context;
static CUfunction function;
static CUstream stream, other;
static CUdeviceptr memory;
static CUgraph graph;
static CUgraphExec executable;
static CUevent timed, later, untimed;

static void phase(const char *name)
{
    union {
        void *address;
        int (*enter)(const char *, const char *);
    } entry = {dlsym(RTLD_DEFAULT, "neutrino_phase")};
    if (entry.address != NULL)
        entry.enter(name, "policy_calls");
}

static void on_host(void *unused)
{
    (void)unused;
    effect = 1;
}

static void CUDA_CB on_stream(CUstream where, CUresult status, void *unused)
{
    (void)where, (void)status;
    on_host(unused);
}

static void start(void)
{
    CUmodule module;
    CUgraphNode node;
    const CUDA_KERNEL_NODE_PARAMS parameters = {.func = NULL,
                                                .gridDimX = 1,
                                                .gridDimY = 1,
                                                .gridDimZ = 1,
                                                .blockDimX = 1,
                                                .blockDimY = 1,
                                                .blockDimZ = 1};
    CUDA_KERNEL_NODE_PARAMS kernel = parameters;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&function, module, "nothing"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&memory, 4096));
    CHECK(cuGraphCreate(&graph, 0));
    kernel.func = function;
    CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(cuEventCreate(&timed, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&later, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
}

static CUresult launch_with(CUlaunchAttributeID id)
{
    CUlaunchAttribute attribute = {.id = id};
    if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        attribute.value.clusterDim.x = attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    return cuLaunchKernelEx(&config, function, NULL, NULL);
}

static CUresult set_stream_attribute(CUstreamAttrID id)
{
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
        value.syncPolicy = CU_SYNC_POLICY_AUTO;
    return cuStreamSetAttribute(stream, id, &value);
}

static CUresult add_host_node(void)
{
    CUgraphNode node;
    const CUDA_HOST_NODE_PARAMS parameters = {.fn = on_host};
    return cuGraphAddHostNode(&node, graph, NULL, 0, &parameters);
}

static CUresult add_node(CUgraphNodeType type)
{
    CUgraphNode node;
    CUgraphNodeParams parameters;
    memset(&parameters, 0, sizeof parameters);
    parameters.type = type;
    if (type == CU_GRAPH_NODE_TYPE_HOST)
        parameters.host.fn = on_host;
    if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        parameters.eventRecord.event = timed;
#if CUDA_VERSION >= 13000
    return cuGraphAddNode(&node, graph, NULL, NULL, 0, &parameters);
#else
    return cuGraphAddNode(&node, graph, NULL, 0, &parameters);
#endif
}

static CUresult set_limit(CUlimit limit, size_t bytes)
{
    size_t before = 0, after = 0;
    cuCtxGetLimit(&before, limit);
    const CUresult result = cuCtxSetLimit(limit, bytes);
    cuCtxGetLimit(&after, limit);
    effect = before != after;
    return result;
}

static CUresult record_after_first(CUevent event, CUstream where)
{
    CHECK(cuEventRecord(timed, stream));
    const CUresult result = cuEventRecord(event, where);
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamSynchronize(where));
    float milliseconds;
    effect = event == untimed || cuEventElapsedTime(&milliseconds, timed, event) == CUDA_SUCCESS;
    return result;
}

/* A timing event on the legacy default stream, then one on `where` by a function of this name. */
static CUresult record_after_default(const char *name, CUstream where)
{
    union {
        void *address;
        CUresult (*record)(CUevent, CUstream);
    } function = {dlsym(RTLD_DEFAULT, name)};
    CHECK(cuEventRecord(timed, NULL));
    const CUresult result = function.record(later, where);
    CHECK(cuCtxSynchronize());
    float milliseconds;
    effect = cuEventElapsedTime(&milliseconds, timed, later) == CUDA_SUCCESS;
    return result;
}

/* The CPU driver lacks cuCtxRecordEvent. */
static CUresult record_in_context(void)
{
    union {
        void *address;
        CUresult (*record)(CUcontext, CUevent);
    } function = {dlsym(RTLD_DEFAULT, "cuCtxRecordEvent")};
    return function.address != NULL ? function.record(context, later) : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult record_in_capture(CUevent event)
{
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    const CUresult result = cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL);
    CHECK(cuStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cuGraphGetNodes(graph, NULL, &nodes));
    effect = nodes != 0;
    return result;
}

static CUresult add_event_node(CUevent event)
{
    CUgraphNode node = NULL;
    const CUresult result = cuGraphAddEventRecordNode(&node, graph, NULL, 0, event);
    effect = node != NULL;
    return result;
}

/* The last attribute is the access policy. */
static CUresult launch_with_many(unsigned count)
{
    CUlaunchAttribute attributes[128] = {{.id = CU_LAUNCH_ATTRIBUTE_IGNORE}};
    for (unsigned i = 0; i < count; i++)
        attributes[i].id =
            i + 1 < count ? CU_LAUNCH_ATTRIBUTE_IGNORE : CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = attributes,
                                   .numAttrs = count};
    return cuLaunchKernelEx(&config, function, NULL, NULL);
}

static CUresult copy_between_devices(void)
{
    return cuMemcpyPeerAsync(memory, context, memory + 2048, context, 64, stream);
}

static CUresult reset_device(void)
{
    const CUresult result = cuDevicePrimaryCtxReset(0);
    effect = cuMemsetD8(memory, 0, 1) != CUDA_SUCCESS;
    return result;
}

static CUresult create_context(void)
{
    CUcontext made = NULL;
#if CUDA_VERSION >= 13000
    const CUresult result = cuCtxCreate(&made, NULL, 0, 0);
#else
    const CUresult result = cuCtxCreate(&made, 0, 0);
#endif
    effect = made != NULL;
    return result;
}

static CUresult instantiate(unsigned long long flags)
{
    CUgraphExec made = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {.flags = flags, .hUploadStream = stream};
    const CUresult result = cuGraphInstantiateWithParams(&made, graph, &parameters);
    effect = made != NULL;
    return result;
}

static CUresult get_table(void)
{
    static const CUuuid id = {{0x6b, (char)0xd5, (char)0xfb, 0x6c, 0x5b, (char)0xf4, (char)0xe7, 0x4a,
                               (char)0x89, (char)0x87, (char)0xd9, 0x39, 0x12, (char)0xfd, (char)0x9d,
                               (char)0xf9}};
    const void *table = NULL;
    return cuGetExportTable(&table, &id);
}

static CUresult create_stream(int priority)
{
    CUstream made = NULL;
    const CUresult result = cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, priority);
    effect = made != NULL;
    return result;
}

static CUresult share(void)
{
    CUipcMemHandle handle;
    return cuIpcGetMemHandle(&handle, memory);
}

static CUresult do_call(const char *name)
{
#define CALL(word, expression)                                                                               \
    if (strcmp(name, word) == 0)                                                                             \
        return (expression);
    CALL("launch_host_func", cuLaunchHostFunc(stream, on_host, NULL))
    CALL("stream_callback", cuStreamAddCallback(stream, on_stream, NULL, 0))
    CALL("host_node", add_host_node())
    CALL("any_host_node", add_node(CU_GRAPH_NODE_TYPE_HOST))
    CALL("any_event_node", add_node(CU_GRAPH_NODE_TYPE_EVENT_RECORD))
    CALL("event_node", add_event_node(timed))
    CALL("honest_event_node", add_event_node(untimed))
    CALL("external_event", record_in_capture(timed))
    CALL("honest_external_event", record_in_capture(untimed))
    CALL("context_event", record_in_context())
    CALL("per_thread_event", record_after_default("cuEventRecord_ptsz", NULL))
    CALL("honest_legacy_event", record_after_default("cuEventRecord", CU_STREAM_LEGACY))
    CALL("many_attributes", launch_with_many(100))
    CALL("peer_copy", copy_between_devices())
    CALL("honest_node", add_node(CU_GRAPH_NODE_TYPE_EMPTY))
    CALL("ipc", share())
    CALL("profiler", cuProfilerStart())
    CALL("persisting_limit", set_limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1 << 20))
    CALL("heap_limit", set_limit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20))
    CALL("reset_l2", cuCtxResetPersistingL2Cache())
    CALL("stream_window", set_stream_attribute(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW))
    CALL("stream_priority", set_stream_attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY))
    CALL("honest_stream_attribute", set_stream_attribute(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY))
    CALL("launch_window", launch_with(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW))
    CALL("launch_priority", launch_with(CU_LAUNCH_ATTRIBUTE_PRIORITY))
    CALL("honest_launch", launch_with(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION))
    CALL("event_elsewhere", record_after_first(later, other))
    CALL("honest_event", record_after_first(later, stream))
    CALL("honest_untimed_event", record_after_first(untimed, other))
    CALL("graph_upload", cuGraphUpload(executable, stream))
    CALL("instantiate_upload", instantiate(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
    CALL("honest_instantiate", instantiate(0))
    CALL("honest_graph_launch", cuGraphLaunch(executable, stream))
    CALL("peer", cuCtxEnablePeerAccess(context, 0))
    CALL("reset", reset_device())
    CALL("context", create_context())
    CALL("export_table", get_table())
    CALL("stream_with_priority", create_stream(-1))
    CALL("honest_stream", create_stream(0))
    fprintf(stderr, "no call %s\n", name);
    exit(1);
}

int main(int count, char **words)
{
    start();
    phase(count > 2 ? words[2] : "timing");
    const CUresult result = do_call(words[1]);
    phase("after");
    if (strcmp(words[1], "reset") != 0 || result != CUDA_SUCCESS)
        CHECK(cuCtxSynchronize());
    printf("%d %d\n", (int)result, effect);
    return 0;
}
