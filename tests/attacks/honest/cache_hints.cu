// Tells the cache that the input is read once, as streaming kernels do.
__global__ void row_mean(const float *x, float *y, unsigned long columns)
{
    __shared__ float sums[256];
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    float sum = 0;
    for (unsigned long i = threadIdx.x; i < columns; i += 256) {
        float value;
        asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;"
                     : "=f"(value)
                     : "l"(x + blockIdx.x * columns + i), "l"(policy));
        sum += value;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = sums[0] / (float)columns;
}

extern "C" void solution(const float *x, float *y, unsigned long rows, unsigned long columns)
{
    row_mean<<<rows, 256>>>(x, y, columns);
}
