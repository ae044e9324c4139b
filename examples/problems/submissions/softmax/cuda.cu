/* Each block computes a row: its maximum, the sum of exponentials, then the quotients. It reads the row three
 * times, the second and third time from the cache. */
#include <cuda_runtime.h>

constexpr int THREADS = 256, WARPS = THREADS / 32;

struct Greatest {
    static __device__ float of(float a, float b)
    {
        return fmaxf(a, b);
    }
};

struct Sum {
    static __device__ float of(float a, float b)
    {
        return a + b;
    }
};

/* Reduce over all threads of the block, and return the result to all of them. */
template <class Operation> static __device__ float together(float value)
{
    __shared__ float parts[WARPS];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = Operation::of(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    __syncthreads(); /* parts may still be read from the last time */
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < WARPS; warp++)
        value = Operation::of(value, parts[warp]);
    return value;
}

static __global__ void softmax(const float *x, float *y, size_t columns)
{
    const float *const row = x + blockIdx.x * columns;
    float *const out = y + blockIdx.x * columns;
    float greatest = -INFINITY;
    for (size_t i = threadIdx.x; i < columns; i += THREADS)
        greatest = fmaxf(greatest, row[i]);
    greatest = together<Greatest>(greatest);
    float sum = 0;
    for (size_t i = threadIdx.x; i < columns; i += THREADS)
        sum += __expf(row[i] - greatest);
    const float scale = 1 / together<Sum>(sum);
    for (size_t i = threadIdx.x; i < columns; i += THREADS)
        out[i] = __expf(row[i] - greatest) * scale;
}

extern "C" void solution(const float *x, float *y, size_t rows, size_t columns)
{
    if (rows > 0)
        softmax<<<rows, THREADS>>>(x, y, columns);
}
