/* A thread adds four numbers at once. */
#include <cuda_runtime.h>

static __global__ void add(const float *a, const float *b, float *c, size_t n)
{
    const size_t i = 4 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (i + 4 <= n) {
        const float4 x = *(const float4 *)(a + i), y = *(const float4 *)(b + i);
        *(float4 *)(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
        for (size_t rest = i; rest < n; rest++)
            c[rest] = a[rest] + b[rest];
    }
}

extern "C" void solution(const float *a, const float *b, float *c, size_t n)
{
    if (n > 0)
        add<<<(n + 1023) / 1024, 256>>>(a, b, c, n);
}
