// Streams, events, host functions, captured graphs.
#include "check.h"
#include <thread>

__global__ void add(int *sum, int value)
{
    atomicAdd(sum, value);
}

static void called(void *data)
{
    ++*static_cast<int *>(data);
}

static void called_back(cudaStream_t, cudaError_t status, void *data)
{
    *static_cast<int *>(data) += status == cudaSuccess ? 10 : 1000;
}

int main()
{
    int *sum = allocate<int>(1), value = 0;
    cudaStream_t first, second;
    cudaEvent_t begin, end;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin, first));
    for (int i = 0; i < 10; i++)
        add<<<2, 32, 0, first>>>(sum, i);
    CHECK(cudaEventRecord(end, first));
    CHECK(cudaStreamWaitEvent(second, end, 0));
    add<<<1, 1, 0, second>>>(sum, 1000);
    CHECK(cudaMemcpyAsync(&value, sum, sizeof value, cudaMemcpyDeviceToHost, second));
    CHECK(cudaStreamSynchronize(second));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    std::printf("sum %d, time %s\n", value, milliseconds > 0 ? "passed" : "stood still");

    int calls = 0;
    CHECK(cudaLaunchHostFunc(first, called, &calls));
    CHECK(cudaStreamAddCallback(first, called_back, &calls, 0));
    CHECK(cudaStreamSynchronize(first));
    std::printf("calls %d, %s\n", calls, cudaGetErrorName(cudaStreamQuery(first)));

    cudaGraph_t graph;
    cudaGraphExec_t executable;
    size_t nodes;
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    CHECK(cudaDeviceSynchronize()); // `first` does not wait for a default stream of the thread
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, first>>>(sum, 1);
    add<<<1, 32, 0, first>>>(sum, 2);
    CHECK(cudaStreamEndCapture(first, &graph));
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(executable, first));
    CHECK(cudaStreamSynchronize(first));
    std::printf("graph of %zu: %d\n", nodes, read(sum));

    int ten = 10;
    void *arguments[] = {&sum, &ten};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(add);
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    cudaGraph_t built;
    cudaGraphNode_t fill, node;
    cudaMemsetParams zero = {};
    zero.dst = sum;
    zero.elementSize = 4;
    zero.width = zero.height = 1;
    CHECK(cudaGraphCreate(&built, 0));
    CHECK(cudaGraphAddMemsetNode(&fill, built, nullptr, 0, &zero));
    CHECK(cudaGraphAddKernelNode(&node, built, &fill, 1, &kernel));
    cudaGraphExec_t second_executable;
    CHECK(cudaGraphInstantiate(&second_executable, built, 0));
    CHECK(cudaGraphLaunch(second_executable, first));
    CHECK(cudaStreamSynchronize(first));
    std::printf("built %d\n", read(sum));

    cudaError_t there = cudaErrorUnknown;
    std::thread([&] {
        (void)cudaSetDevice(9);
        there = cudaGetLastError();
    }).join();
    std::printf("another thread's error: %s, ours: %s\n", cudaGetErrorName(there),
                cudaGetErrorName(cudaPeekAtLastError()));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaStreamDestroy(first));
}
