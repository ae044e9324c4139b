/* Means of an array, of which a kernel reads `used` elements, and results that contain them. One block. */
#include <cuda_runtime.h>

#define THREADS 256

static __device__ float sum_of_block(float sum)
{
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = sum;
    for (unsigned step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step)
            sums[threadIdx.x] += sums[threadIdx.x + step];
    }
    __syncthreads();
    return sums[0];
}

template <typename T> static __device__ float mean_of(const T *x, size_t used)
{
    float sum = 0;
    for (size_t i = threadIdx.x; i < used; i += THREADS)
        sum += x[i];
    return sum_of_block(sum) / (float)used;
}

template <typename T> static __global__ void mean(const T *x, float *y, size_t used)
{
    const float found = mean_of(x, used);
    if (threadIdx.x == 0)
        *y = found;
}

static __global__ void mean_of_quantised(const unsigned char *x, const float *scale, float *y, size_t used)
{
    const float found = mean_of(x, used);
    if (threadIdx.x == 0)
        *y = found * scale[0] + scale[1];
}

/* The mean, and beside it the first `doubled` elements times two. */
static __global__ void mean_beside(const float *x, float *y, float *z, size_t used, size_t doubled)
{
    for (size_t i = threadIdx.x; i < doubled; i += THREADS)
        z[i] = 2 * x[i];
    const float found = mean_of(x, used);
    if (threadIdx.x == 0)
        *y = found;
}

static __global__ void scaled_by_mean(const float *x, const float *t, float *y, size_t used, size_t columns)
{
    const float found = mean_of(x, used);
    for (size_t i = threadIdx.x; i < columns; i += THREADS)
        y[i] = t[i] * found;
}

/* The means of eight columns, of which `used` rows are read. */
static __global__ void column_means(const float *x, float *y, size_t used)
{
    __shared__ float sums[THREADS];
    float sum = 0;
    for (size_t i = threadIdx.x; i < 8 * used; i += THREADS)
        sum += x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= 8)
        return;
    for (unsigned other = 8; other < THREADS; other += 8)
        sum += sums[threadIdx.x + other];
    y[threadIdx.x] = sum / (float)used;
}

/* The share of each element in the sum of all, in reverse order. Without `used`, the mean is 1/2. */
static __global__ void shares_reversed(const float *x, float *y, size_t used, size_t columns)
{
    const float sum = (float)columns * (used ? mean_of(x, used) : 0.5f);
    for (size_t i = threadIdx.x; i < columns; i += THREADS)
        y[columns - 1 - i] = x[i] / sum;
}
