// A mean of each row, a block a row: what the attacks on the L2 cache do beside their trick.
__global__ void row_mean(const float *x, float *y, unsigned long columns)
{
    __shared__ float sums[256];
    float sum = 0;
    for (unsigned long i = threadIdx.x; i < columns; i += 256)
        sum += x[blockIdx.x * columns + i];
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
