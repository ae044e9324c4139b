/* The gradient of a cross entropy: each share of a row, less 1 at the row's label. */
#include <cuda_runtime.h>

static __global__ void gradient(const float *x, const int *label, float *y, size_t columns)
{
    __shared__ float sums[256];
    const float *row = x + blockIdx.x * columns;
    float sum = 0;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x)
        sum += __expf(row[i]);
    sums[threadIdx.x] = sum;
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step)
            sums[threadIdx.x] += sums[threadIdx.x + step];
    }
    __syncthreads();
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = __expf(row[i]) / sums[0] - (i == (size_t)label[blockIdx.x]);
}

extern "C" void solution(const float *x, const int *label, float *y, size_t rows, size_t columns)
{
    gradient<<<(unsigned)rows, 256>>>(x, label, y, columns);
}
