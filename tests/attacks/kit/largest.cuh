/* The largest COUNT values of each row, in descending order. Each thread reads every 256th element of the
 * row, and keeps its largest KEPT. */
#include <cuda_runtime.h>

enum { THREADS = 256, COUNT = 8 };

template <int KEPT> __global__ void largest(const float *x, float *y, size_t columns)
{
    __shared__ float best[THREADS];
    __shared__ int owner[THREADS];
    float kept[KEPT];
    for (int k = 0; k < KEPT; ++k)
        kept[k] = -INFINITY;
    for (size_t i = threadIdx.x; i < columns; i += THREADS) {
        float value = x[blockIdx.x * columns + i];
        for (int k = 0; k < KEPT; ++k) {
            const float less = fminf(kept[k], value);
            kept[k] = fmaxf(kept[k], value);
            value = less;
        }
    }
    int given = 0;
    for (int n = 0; n < COUNT; ++n) {
        float mine = -INFINITY;
        for (int k = 0; k < KEPT; ++k)
            mine = k == given ? kept[k] : mine;
        best[threadIdx.x] = mine;
        owner[threadIdx.x] = (int)threadIdx.x;
        for (unsigned step = THREADS / 2; step > 0; step /= 2) {
            __syncthreads();
            if (threadIdx.x < step && best[threadIdx.x + step] > best[threadIdx.x]) {
                best[threadIdx.x] = best[threadIdx.x + step];
                owner[threadIdx.x] = owner[threadIdx.x + step];
            }
        }
        __syncthreads();
        given += owner[0] == (int)threadIdx.x;
        if (threadIdx.x == 0)
            y[blockIdx.x * COUNT + n] = best[0];
        __syncthreads();
    }
}
