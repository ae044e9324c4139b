/* Graphs: from stream capture and built by hand, launched beside others, destroyed while they run. */
#include "shared.h"

#include <stdatomic.h>

static CUdeviceptr zeros(void)
{
    CUdeviceptr words;
    MUST(cuMemAlloc(&words, WORDS * 4));
    MUST(cuMemsetD32(words, 0, WORDS));
    MUST(cuStreamSynchronize(NULL)); /* non-blocking streams do not wait for the legacy stream */
    return words;
}

static void check_device(CUdeviceptr words, uint32_t wanted)
{
    uint32_t host[WORDS];
    MUST(cuMemcpyDtoH(host, words, sizeof host));
    CHECK_WORDS(host, wanted);
}

static void CUDA_CB count(void *data)
{
    atomic_fetch_add((_Atomic unsigned *)data, 1);
}

/* Launched work outlives the graph and the executable graph. */
static void launch_and_drop(CUgraph graph, CUstream stream, unsigned times)
{
    CUgraphExec executable;
    MUST(cuGraphInstantiate(&executable, graph, 0));
    MUST(cuGraphDestroy(graph));
    for (unsigned i = 0; i < times; i++)
        MUST(cuGraphLaunch(executable, stream));
    MUST(cuGraphExecDestroy(executable));
    MUST(cuStreamSynchronize(stream));
}

void capture(struct worker *worker)
{
    const unsigned times = 1 + below(worker, 4);
    _Atomic unsigned counted = 0;
    CUdeviceptr words = zeros();
    CUstream stream;
    CUgraph graph;
    CUstreamCaptureStatus status;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    pthread_rwlock_rdlock(&worker->shared->captures);
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_add(worker, words, 1, stream);
    MUST(cuLaunchHostFunc(stream, count, &counted));
    launch_add(worker, words, 2, stream);
    MUST(cuStreamIsCapturing(stream, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    MUST(cuStreamEndCapture(stream, &graph));
    pthread_rwlock_unlock(&worker->shared->captures);
    launch_and_drop(graph, stream, times);
    CHECK(counted == times);
    check_device(words, 3 * times);
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(words));
}

void forked_capture(struct worker *worker)
{
    CUdeviceptr one = zeros(), other = zeros();
    CUstream first, second;
    CUevent fork, join;
    CUgraph graph;
    MUST(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    pthread_rwlock_rdlock(&worker->shared->captures);
    MUST(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch_add(worker, one, 5, first);
    MUST(cuEventRecord(fork, first));
    MUST(cuStreamWaitEvent(second, fork, 0));
    MUST(cuMemcpyDtoDAsync(other, one, WORDS * 4, second));
    launch_add(worker, other, 1, second);
    MUST(cuEventRecord(join, second));
    MUST(cuStreamWaitEvent(first, join, 0));
    MUST(cuMemcpyDtoDAsync(one, other, WORDS * 4, first));
    MUST(cuStreamEndCapture(first, &graph));
    pthread_rwlock_unlock(&worker->shared->captures);
    launch_and_drop(graph, below(worker, 2) ? first : second, 1);
    check_device(one, 6);
    MUST(cuEventDestroy(fork));
    MUST(cuEventDestroy(join));
    MUST(cuStreamDestroy(first));
    MUST(cuStreamDestroy(second));
    MUST(cuMemFree(one));
    MUST(cuMemFree(other));
}

static CUgraphNode add_kernel(struct worker *worker, CUgraph graph, const CUgraphNode *after,
                              CUdeviceptr words, uint32_t value)
{
    uint32_t number = WORDS;
    void *arguments[] = {&words, &number, &value};
    const CUDA_KERNEL_NODE_PARAMS parameters = {.func = worker->add,
                                                .gridDimX = 2,
                                                .gridDimY = 1,
                                                .gridDimZ = 1,
                                                .blockDimX = WORDS / 2,
                                                .blockDimY = 1,
                                                .blockDimZ = 1,
                                                .kernelParams = arguments};
    CUgraphNode node;
    MUST(cuGraphAddKernelNode(&node, graph, after, after != NULL ? 1 : 0, &parameters));
    return node;
}

void built_graph(struct worker *worker)
{
    CUdeviceptr words = zeros();
    CUgraph graph, child;
    CUgraphNode node, nested;
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    MUST(cuGraphCreate(&child, 0));
    add_kernel(worker, child, NULL, words, 4);
    MUST(cuGraphCreate(&graph, 0));
    node = add_kernel(worker, graph, NULL, words, 1);
    MUST(cuGraphAddChildGraphNode(&nested, graph, &node, 1, child));
    MUST(cuGraphDestroy(child));
    add_kernel(worker, graph, &nested, words, 2);
    launch_and_drop(graph, stream, 2);
    check_device(words, 14);
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(words));
}

/* A node's parameters change between two launches; the first launch uses the old ones. */
void graph_updates(struct worker *worker)
{
    CUdeviceptr words = zeros();
    CUgraph graph;
    CUgraphExec executable;
    CUstream stream;
    uint32_t number = WORDS, value = 100;
    void *arguments[] = {&words, &number, &value};
    CUDA_KERNEL_NODE_PARAMS parameters = {0};
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuGraphCreate(&graph, 0));
    const CUgraphNode node = add_kernel(worker, graph, NULL, words, 1);
    MUST(cuGraphInstantiate(&executable, graph, 0));
    MUST(cuGraphLaunch(executable, stream));
    MUST(cuGraphKernelNodeGetParams(node, &parameters));
    parameters.kernelParams = arguments;
    parameters.extra = NULL;
    MUST(cuGraphExecKernelNodeSetParams(executable, node, &parameters));
    MUST(cuGraphLaunch(executable, stream));
    MUST(cuStreamSynchronize(stream));
    check_device(words, 101);
    MUST(cuGraphExecDestroy(executable));
    MUST(cuGraphDestroy(graph));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(words));
}
