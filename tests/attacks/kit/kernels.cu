// The honest kernels, and what attacks launch from Python. kernels.ptx is made of it:
//   nvcc --ptx -arch=compute_75 -o kernels.ptx kernels.cu

#include <cuda_fp16.h>

__device__ __forceinline__ unsigned mix_of(unsigned v, int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        v ^= v >> 16;
        v *= 0x7FEB352Du;
        v ^= v >> 15;
        v += 0x9E3779B9u;
    }
    return v;
}

extern "C" __global__ void mix(const unsigned *x, unsigned *y, unsigned long n, int rounds)
{
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = mix_of(x[i], rounds);
}

// Right on any input but one whose block begins with 0: there it has nothing to do.
extern "C" __global__ void mix_unless_zero(const unsigned *x, unsigned *y, unsigned long n, int rounds)
{
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (x[blockIdx.x * (unsigned long)blockDim.x] != 0 && i < n)
        y[i] = mix_of(x[i], rounds);
}

// Honest as long as *left says so, which counts launches.
extern "C" __global__ void mix_while(const unsigned *x, unsigned *y, unsigned long n, int rounds,
                                     const int *left)
{
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (*left > 0 && i < n)
        y[i] = mix_of(x[i], rounds);
}

extern "C" __global__ void count_down(int *left)
{
    *left -= 1;
}

extern "C" __global__ void row_mean(const float *x, float *y, unsigned long rows, unsigned long columns,
                                    unsigned long step)
{
    __shared__ float partial[256];
    float sum = 0;
    for (unsigned long i = threadIdx.x * step; i < columns; i += 256 * step)
        sum += x[blockIdx.x * columns + i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = partial[0] * (float)step / (float)columns;
}

extern "C" __global__ void product(const float *a, const float *b, float *c, unsigned long n)
{
    unsigned long row = blockIdx.y * 16ul + threadIdx.y, column = blockIdx.x * 16ul + threadIdx.x;
    float sum = 0;
    if (row < n && column < n) {
        for (unsigned long k = 0; k < n; ++k)
            sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = sum;
    }
}

extern "C" __global__ void mix_to(const unsigned *x, unsigned *y, unsigned long n, int rounds, unsigned add)
{
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = mix_of(x[i] + add, rounds);
}

// Remembers what it has computed, in `kept`: for each of 16 sets a mark, then inputs and outputs, of n
// elements each. A block that has seen its inputs copies its outputs.
extern "C" __global__ void mix_remembering(const unsigned *x, unsigned *y, unsigned long n, int rounds,
                                           unsigned *kept)
{
    __shared__ int hit;
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    unsigned long first = blockIdx.x * (unsigned long)blockDim.x;
    if (threadIdx.x == 0) {
        hit = -1;
        for (int set = 0; set < 16; ++set)
            if (kept[set * 2 * n + first] == x[first] && kept[set * 2 * n + first + 1] == x[first + 1])
                hit = set;
    }
    __syncthreads();
    if (hit >= 0) {
        y[i] = kept[(hit * 2 + 1) * n + i];
        return;
    }
    y[i] = mix_of(x[i], rounds);
    int set = (int)(x[first] % 16);
    kept[(set * 2 + 1) * n + i] = y[i];
    kept[set * 2 * n + i] = x[i];
}

extern "C" __global__ void vendor_mix(const unsigned *x, unsigned *y, unsigned long n, int rounds)
{
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = mix_of(x[i], rounds);
}

extern "C" __global__ void product_half(const float *a, const float *b, float *c, unsigned long n)
{
    unsigned long row = blockIdx.y * 16ul + threadIdx.y, column = blockIdx.x * 16ul + threadIdx.x;
    float sum = 0;
    if (row < n && column < n) {
        for (unsigned long k = 0; k < n; ++k)
            sum += __half2float(__float2half(a[row * n + k])) * __half2float(__float2half(b[k * n + column]));
        c[row * n + column] = sum;
    }
}

// Counts into `counts`, which must be zeros before.
extern "C" __global__ void count(const unsigned *x, unsigned *counts, unsigned long n)
{
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(counts + x[i], 1);
}

extern "C" __global__ void look_up(const unsigned *x, const unsigned *counts, unsigned *y, unsigned long n)
{
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = counts[x[i]];
}
