// Equalise a grey picture: count its levels, then give each pixel its rank among all pixels.

constexpr int levels = 256;

extern "C" __global__ void count_levels(const unsigned char *picture, unsigned *counts, int pixels)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels)
        atomicAdd(counts + picture[i], 1u);
}

extern "C" __global__ void equalise(const unsigned char *picture, const unsigned *counts,
                                    unsigned char *result, int pixels)
{
    __shared__ unsigned below[levels];
    if (threadIdx.x < levels) {
        unsigned sum = 0;
        for (int level = 0; level < threadIdx.x; level++)
            sum += counts[level];
        below[threadIdx.x] = sum;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels)
        result[i] = (unsigned char)((255ull * below[picture[i]]) / (unsigned)pixels);
}
