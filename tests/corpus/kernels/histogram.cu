// Counting with atomics, in global memory, in shared memory, and one vote for equal neighbours.

extern "C" __global__ void histogram_global(const unsigned *in, unsigned *bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i] >> 26], 1u);
}

extern "C" __global__ void histogram_shared(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned mine[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (mine[i])
            atomicAdd(&bins[i], mine[i]);
}

extern "C" __global__ void histogram_matched(const unsigned *in, unsigned long long *bins)
{
    const unsigned bin = in[blockIdx.x * blockDim.x + threadIdx.x] % 7;
    const unsigned same = __match_any_sync(~0u, bin);
    if (threadIdx.x % 32 == __ffs(same) - 1)
        atomicAdd(&bins[bin], (unsigned long long)__popc(same));
}
