// Every block adds its part to the row's sum: the order, and so the last bits, differ from run to run.
__global__ void add(const float *x, float *y, unsigned long columns)
{
    unsigned long row = blockIdx.y, begin = blockIdx.x * 1024ul;
    float sum = 0;
    for (unsigned long i = begin + threadIdx.x; i < begin + 1024 && i < columns; i += 256)
        sum += x[row * columns + i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(y + row, sum / (float)columns);
}

extern "C" void solution(const float *x, float *y, unsigned long rows, unsigned long columns)
{
    cudaMemsetAsync(y, 0, rows * sizeof(float), nullptr);
    add<<<dim3((columns + 1023) / 1024, rows), 256>>>(x, y, columns);
}
