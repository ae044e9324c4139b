// Launches through the CUDA runtime, which is linked statically: two kernels, two streams, and a
// graph with two nodes.

__global__ void scale(float *values, int count, float factor)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] *= factor;
}

template <typename T> __global__ void fill(T *values, int count, T value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = value;
}

extern "C" int run()
{
    const int count = 1 << 16;
    float *values = nullptr;
    cudaStream_t streams[2];
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;

    if (cudaMalloc(&values, count * sizeof *values) != cudaSuccess)
        return 1;
    for (cudaStream_t &stream : streams)
        cudaStreamCreate(&stream);
    for (int round = 0; round < 7; round++) {
        fill<float><<<count / 256, 256, 0, streams[round % 2]>>>(values, count, 2.0f);
        scale<<<count / 256, 256, 0, streams[round % 2]>>>(values, count, 0.5f);
    }
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal);
    fill<float><<<count / 256, 256, 0, streams[0]>>>(values, count, 3.0f);
    scale<<<count / 256, 256, 0, streams[0]>>>(values, count, 0.5f);
    cudaStreamEndCapture(streams[0], &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    for (int round = 0; round < 5; round++)
        cudaGraphLaunch(executable, streams[0]);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
