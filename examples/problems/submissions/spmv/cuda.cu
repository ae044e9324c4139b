/* Each warp computes a row; its lanes take the elements in turn. */
#include <cuda_runtime.h>

static __global__ void spmv(const int *offsets, const int *columns, const float *values, const float *x,
                            float *y, size_t rows)
{
    const size_t row = blockIdx.x * (size_t)blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = offsets[row] + (int)threadIdx.x; i < offsets[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    if (threadIdx.x == 0)
        y[row] = sum;
}

extern "C" void solution(const int *offsets, const int *columns, const float *values, const float *x,
                         float *y, size_t rows)
{
    if (rows > 0)
        spmv<<<(rows + 7) / 8, dim3(32, 8)>>>(offsets, columns, values, x, y, rows);
}
