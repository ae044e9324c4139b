#include <cuda_runtime.h>
__global__ void softmax(const float *x, float *y, size_t n)
{
    __shared__ float s[256];
    const float *in = x + blockIdx.x * n;
    float *out = y + blockIdx.x * n;
    float m = -INFINITY;
    for (size_t i = threadIdx.x; i < n; i += 256)
        m = fmaxf(m, in[i]);
    s[threadIdx.x] = m;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float t = 0;
    for (size_t i = threadIdx.x; i < n; i += 256)
        t += expf(in[i] - m);
    s[threadIdx.x] = t;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    t = s[0];
    for (size_t i = threadIdx.x; i < n; i += 256)
        out[i] = expf(in[i] - m) / t;
}
extern "C" void solution(const float *x, float *y, size_t rows, size_t columns)
{
    softmax<<<rows, 256>>>(x, y, columns);
}
