/* Each block searches a row. Among equal values the first one wins, in any order of the threads. */
#include <cuda_runtime.h>

constexpr int THREADS = 256;

struct Best {
    float value;
    int place;
};

static __device__ Best better(Best a, Best b)
{
    return a.value > b.value || (a.value == b.value && a.place < b.place) ? a : b;
}

static __global__ void argmax(const float *x, float *value, int *place, size_t columns)
{
    __shared__ Best warps[THREADS / 32];
    const float *const row = x + blockIdx.x * columns;
    Best best = {-INFINITY, 0x7fffffff};
    for (size_t i = threadIdx.x; i < columns; i += THREADS)
        best = better(best, {row[i], (int)i});
    for (int lanes = 16; lanes > 0; lanes /= 2)
        best = better(best, {__shfl_xor_sync(0xffffffffu, best.value, lanes),
                             __shfl_xor_sync(0xffffffffu, best.place, lanes)});
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < THREADS / 32; warp++)
            best = better(best, warps[warp]);
        value[blockIdx.x] = best.value;
        place[blockIdx.x] = best.place;
    }
}

extern "C" void solution(const float *x, float *value, int *place, size_t rows, size_t columns)
{
    if (rows > 0)
        argmax<<<rows, THREADS>>>(x, value, place, columns);
}
