// A kernel that nvcc compiled, launched by <<<...>>>: prints a sum of its results, and the costs of launches.
// With --conditional it is in a conditional node, whose graph is launched.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__device__ float table[4] = {1, 2, 3, 4};

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] += a * x[i] * table[i & 3];
}

static cudaGraphExec_t conditional_graph(float *y, const float *x, float a, int n)
{
    void *parameters[] = {&y, &x, &a, &n};
    cudaKernelNodeParams kernel = {(void *)saxpy, dim3(64), dim3(128), 0, parameters, nullptr};
    cudaGraphNodeParams condition = {cudaGraphNodeTypeConditional};
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t executable = nullptr;
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&condition.conditional.handle, graph, 1, cudaGraphCondAssignDefault);
    condition.conditional.type = cudaGraphCondTypeIf;
    condition.conditional.size = 1;
#if CUDART_VERSION >= 13000
    cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &condition);
#else
    cudaGraphAddNode(&node, graph, nullptr, 0, &condition);
#endif
    cudaGraphAddKernelNode(&node, condition.conditional.phGraph_out[0], nullptr, 0, &kernel);
    cudaGraphInstantiate(&executable, graph, 0);
    return executable;
}

int main(int argc, char **argv)
{
    const int count = 100000, later = getenv("LATER_LAUNCHES") ? atoi(getenv("LATER_LAUNCHES")) : 200;
    std::vector<float> x(count);
    for (int i = 0; i < count; i++)
        x[i] = float(i % 97);
    float *y, *given;
    const size_t bytes = count * sizeof(float);
    if (cudaMalloc(&y, bytes) != cudaSuccess || cudaMalloc(&given, bytes) != cudaSuccess)
        return 1;
    cudaMemcpy(y, x.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(given, x.data(), bytes, cudaMemcpyHostToDevice);
    const bool is_conditional = argc > 1 && strcmp(argv[1], "--conditional") == 0;
    cudaGraphExec_t graph = nullptr;
    std::vector<double> times;
    for (int i = 0; i <= later; i++) {
        const auto began = std::chrono::steady_clock::now();
        if (is_conditional && graph == nullptr)
            graph = conditional_graph(y, given, 0.5f, count);
        if (is_conditional && cudaGraphLaunch(graph, 0) != cudaSuccess)
            return 1;
        if (!is_conditional)
            saxpy<<<64, 128>>>(y, given, 0.5f, count);
        if (cudaDeviceSynchronize() != cudaSuccess)
            return 1;
        times.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count());
    }
    const double first = times[0];
    std::sort(times.begin() + 1, times.end());
    fprintf(stderr, "cost: first %.1f later %.1f\n", first, times[1 + later / 2]);
    cudaMemcpy(x.data(), y, bytes, cudaMemcpyDeviceToHost);
    unsigned long long hash = 1469598103934665603ull;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((unsigned char *)x.data())[i]) * 1099511628211ull;
    printf("%016llx\n", hash);
}
