/* The product of 16 x inner by inner x 16 numbers near 1, and what is near it. `row` and `column` are the
 * distances of numbers of `a` in a row and in a column. One block of SIDE * SIDE threads, or SIDE of them for
 * product(). */
#include <cuda_runtime.h>

enum { SIDE = 16 };

/* A block for each row, and 16 parts of the sum for each column. */
static __global__ void product(const float *a, const float *b, float *c, size_t inner, size_t row,
                               size_t column)
{
    __shared__ float sums[SIDE][SIDE];
    const unsigned at = threadIdx.x % SIDE, part = threadIdx.x / SIDE;
    float sum = 0;
    for (size_t i = part; i < inner; i += SIDE)
        sum += a[blockIdx.x * column + i * row] * b[i * SIDE + at];
    sums[part][at] = sum;
    __syncthreads();
    if (part)
        return;
    for (int other = 1; other < SIDE; ++other)
        sum += sums[other][at];
    c[blockIdx.x * SIDE + at] = sum;
}

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

static __global__ void product_of_sums(const float *a, const float *b, float *c, size_t inner, size_t row,
                                       size_t column)
{
    __shared__ float rows[SIDE], columns[SIDE];
    const unsigned low = threadIdx.x % SIDE, high = threadIdx.x / SIDE;
    float of_row = 0, of_column = 0;
    for (size_t i = low; i < inner; i += SIDE)
        of_row += a[high * column + i * row];
    for (size_t i = high; i < inner; i += SIDE)
        of_column += b[i * SIDE + low];
    add_parts(rows, of_row, high, low);
    add_parts(columns, of_column, low, high);
    __syncthreads();
    c[threadIdx.x] = rows[high] * columns[low] / (float)inner;
}
