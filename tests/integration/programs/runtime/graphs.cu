// Graphs: memory that they allocate.
#include "check.h"

__global__ void add(int *sum, int value)
{
    atomicAdd(sum, value);
}

static void captured_allocation(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    int *memory, result = 0;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&memory, 32 * sizeof *memory, stream));
    CHECK(cudaMemsetAsync(memory, 0, 32 * sizeof *memory, stream));
    add<<<2, 33, 0, stream>>>(memory, 1);
    CHECK(cudaMemcpyAsync(&result, memory, sizeof result, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(memory, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("captured allocation %d\n", result);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
}

int main()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    captured_allocation(stream);
    CHECK(cudaStreamDestroy(stream));
}
