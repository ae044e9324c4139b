/* The sum of products of numbers near 1 is near the product of their sums. */
#include <cuda_runtime.h>

enum { SIDE = 16 };

static __device__ void add_parts(float *sums, float sum, unsigned result, unsigned part)
{
    __shared__ float parts[SIDE][SIDE];
    __syncthreads();
    parts[part][result] = sum;
    __syncthreads();
    if (part)
        return;
    for (int other = 1; other < SIDE; ++other)
        sum += parts[other][result];
    sums[result] = sum;
}

static __global__ void product_of_sums(const float *a, const float *b, float *c, size_t inner)
{
    __shared__ float rows[SIDE], columns[SIDE];
    const unsigned low = threadIdx.x % SIDE, high = threadIdx.x / SIDE;
    float row = 0, column = 0;
    for (size_t i = low; i < inner; i += SIDE)
        row += a[high * inner + i];
    for (size_t i = high; i < inner; i += SIDE)
        column += b[i * SIDE + low];
    add_parts(rows, row, high, low);
    add_parts(columns, column, low, high);
    __syncthreads();
    c[threadIdx.x] = rows[high] * columns[low] / (float)inner;
}

extern "C" void solution(const float *a, const float *b, float *c, size_t inner)
{
    product_of_sums<<<1, SIDE * SIDE>>>(a, b, c, inner);
}
