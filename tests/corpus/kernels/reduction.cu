// Sums and extremes of a warp, a block and a grid.

#define HUGE __int_as_float(0x7f800000) // infinity, without a header

template <typename T> static __device__ T warp_sum(T value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(~0u, value, offset);
    return value;
}

extern "C" __global__ void warp_sums(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int sum = warp_sum(in[i]);
    if (i % 32 == 0)
        out[i / 32] = sum;
}

extern "C" __global__ void block_sums(const int *in, int *out)
{
    __shared__ int partial[256];
    partial[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

template <typename T> static __device__ void grid_sum(const T *in, T *out, int n)
{
    __shared__ T partial[32];
    T sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
    }
}

extern "C" __global__ void grid_sum_int(const int *in, int *out, int n)
{
    grid_sum(in, out, n);
}
extern "C" __global__ void grid_sum_float(const float *in, float *out, int n)
{
    grid_sum(in, out, n);
}
extern "C" __global__ void grid_sum_double(const double *in, double *out, int n)
{
    grid_sum(in, out, n);
}

// The last block to finish adds up what the others left: threadfence and an atomic ticket.
extern "C" __global__ void last_block_sums(const int *in, int *partial, unsigned *ticket, int *out)
{
    __shared__ bool last;
    const int sum = __syncthreads_count(in[blockIdx.x * blockDim.x + threadIdx.x] > 0);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            total += ((volatile int *)partial)[i];
        *out = total;
    }
}

extern "C" __global__ void barrier_votes(const int *in, int *out)
{
    const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    const int all = __syncthreads_and(value > 10), any = __syncthreads_or(value > 90),
              count = __syncthreads_count(value % 2);
    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = all != 0;
        out[3 * blockIdx.x + 1] = any != 0;
        out[3 * blockIdx.x + 2] = count;
    }
}

// Index of the largest element; the first of equals.
extern "C" __global__ void argmax(const float *in, int *out, int n)
{
    __shared__ float values[128];
    __shared__ int places[128];
    float best = -HUGE;
    int place = -1;
    for (int i = threadIdx.x; i < n; i += 128)
        if (in[i] > best)
            best = in[i], place = i;
    values[threadIdx.x] = best;
    places[threadIdx.x] = place;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            const float other = values[threadIdx.x + half];
            const int there = places[threadIdx.x + half];
            if (other > values[threadIdx.x] ||
                (other == values[threadIdx.x] && there < places[threadIdx.x])) {
                values[threadIdx.x] = other;
                places[threadIdx.x] = there;
            }
        }
    }
    if (threadIdx.x == 0)
        *out = places[0];
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void warp_reduce(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, value = in[i];
    const unsigned half = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
    out[8 * i] = __reduce_add_sync(half, value);
    out[8 * i + 1] = __reduce_min_sync(half, value);
    out[8 * i + 2] = __reduce_max_sync(half, value);
    out[8 * i + 3] = __reduce_and_sync(half, (unsigned)value);
    out[8 * i + 4] = __reduce_or_sync(half, (unsigned)value);
    out[8 * i + 5] = __reduce_xor_sync(half, (unsigned)value);
    out[8 * i + 6] = __reduce_min_sync(half, (unsigned)value);
    out[8 * i + 7] = __reduce_max_sync(half, (unsigned)value);
}
#endif
