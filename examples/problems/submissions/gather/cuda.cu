/* A warp copies a row. */
#include <cuda_runtime.h>

static __global__ void gather(const float *table, const int *index, float *rows, size_t n, size_t width)
{
    const size_t row = blockIdx.x * (size_t)blockDim.y + threadIdx.y;
    if (row >= n)
        return;
    const float *const from = table + index[row] * width;
    for (size_t i = threadIdx.x; i < width; i += 32)
        rows[row * width + i] = from[i];
}

extern "C" void solution(const float *table, const int *index, float *rows, size_t n, size_t width)
{
    if (n > 0)
        gather<<<(n + 7) / 8, dim3(32, 8)>>>(table, index, rows, n, width);
}
