/* The control of ProductNear. A block for each row, and 16 parts of the sum for each column. */
#include <cuda_runtime.h>

enum { SIDE = 16 };

static __global__ void product(const float *a, const float *b, float *c, size_t inner)
{
    __shared__ float sums[SIDE][SIDE];
    const unsigned column = threadIdx.x % SIDE, part = threadIdx.x / SIDE;
    float sum = 0;
    for (size_t i = part; i < inner; i += SIDE)
        sum += a[blockIdx.x * inner + i] * b[i * SIDE + column];
    sums[part][column] = sum;
    __syncthreads();
    if (part)
        return;
    for (int other = 1; other < SIDE; ++other)
        sum += sums[other][column];
    c[blockIdx.x * SIDE + column] = sum;
}

extern "C" void solution(const float *a, const float *b, float *c, size_t inner)
{
    product<<<SIDE, SIDE * SIDE>>>(a, b, c, inner);
}
