/* Each thread updates an element. The host computes the factors that all elements share, in double. */
#include <cmath>

#include <cuda_runtime.h>

static __global__ void adam(float *parameter, const float *gradient, float *first, float *second, float rate,
                            float correction, size_t n)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float g = gradient[i];
    const float m = 0.9f * first[i] + 0.1f * g;
    const float v = 0.999f * second[i] + 0.001f * g * g;
    first[i] = m;
    second[i] = v;
    parameter[i] -= rate * m / (sqrtf(v * correction) + 1e-8f);
}

extern "C" void solution(float *parameter, const float *gradient, float *first, float *second, float rate,
                         int step, size_t n)
{
    const float scaled = (float)(rate / (1 - pow(0.9, step))),
                correction = (float)(1 / (1 - pow(0.999, step)));
    if (n > 0)
        adam<<<(n + 255) / 256, 256>>>(parameter, gradient, first, second, scaled, correction, n);
}
