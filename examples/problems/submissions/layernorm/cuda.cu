/* Each block normalises a row in two passes over registers: mean, then sum of squared differences. */
#include <cuda_runtime.h>

constexpr int THREADS = 256, WARPS = THREADS / 32;

/* Reduce over all threads of the block, and return the result to all of them. */
static __device__ float sum_of(float value)
{
    __shared__ float parts[WARPS];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    __syncthreads(); /* parts may still be read from the last time */
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < WARPS; warp++)
        value += parts[warp];
    return value;
}

static __global__ void layernorm(const float *x, const float *gamma, const float *beta, float *y,
                                 size_t columns)
{
    const float *const row = x + blockIdx.x * columns;
    float *const out = y + blockIdx.x * columns;
    float sum = 0;
    for (size_t i = threadIdx.x; i < columns; i += THREADS)
        sum += row[i];
    const float mean = sum_of(sum) / columns;
    float squares = 0;
    for (size_t i = threadIdx.x; i < columns; i += THREADS) {
        const float difference = row[i] - mean;
        squares += difference * difference;
    }
    const float scale = 1 / sqrtf(sum_of(squares) / columns + 1e-5f);
    for (size_t i = threadIdx.x; i < columns; i += THREADS)
        out[i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}

extern "C" void solution(const float *x, const float *gamma, const float *beta, float *y, size_t rows,
                         size_t columns)
{
    if (rows > 0)
        layernorm<<<rows, THREADS>>>(x, gamma, beta, y, columns);
}
