/* The share of each element in the sum of its row. */
#include <cuda_runtime.h>

static __global__ void shares(const float *x, float *y, size_t columns)
{
    __shared__ float sums[256];
    const float *row = x + blockIdx.x * columns;
    float sum = 0;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x)
        sum += row[i];
    sums[threadIdx.x] = sum;
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step)
            sums[threadIdx.x] += sums[threadIdx.x + step];
    }
    __syncthreads();
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = row[i] / sums[0];
}

extern "C" void solution(const float *x, float *y, size_t rows, size_t columns)
{
    shares<<<(unsigned)rows, 256>>>(x, y, columns);
}
