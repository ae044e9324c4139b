// Running sums of a block: by shuffles, by shared memory, and segmented.

extern "C" __global__ void inclusive_scan(const int *in, int *out)
{
    __shared__ int totals[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = in[i];
    for (int offset = 1; offset < 32; offset *= 2) {
        const int other = __shfl_up_sync(~0u, sum, offset);
        if (lane >= offset)
            sum += other;
    }
    if (lane == 31)
        totals[warp] = sum;
    __syncthreads();
    for (int before = 0; before < warp; before++)
        sum += totals[before];
    out[i] = sum;
}

// Blelloch: up the tree and down again.
extern "C" __global__ void exclusive_scan(const unsigned *in, unsigned *out)
{
    extern __shared__ unsigned tree[];
    const int n = 2 * blockDim.x, base = blockIdx.x * n;
    tree[2 * threadIdx.x] = in[base + 2 * threadIdx.x];
    tree[2 * threadIdx.x + 1] = in[base + 2 * threadIdx.x + 1];
    int offset = 1;
    for (int d = n / 2; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            tree[offset * (2 * threadIdx.x + 2) - 1] += tree[offset * (2 * threadIdx.x + 1) - 1];
    }
    if (threadIdx.x == 0)
        tree[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (threadIdx.x < d) {
            const int left = offset * (2 * threadIdx.x + 1) - 1, right = offset * (2 * threadIdx.x + 2) - 1;
            const unsigned kept = tree[left];
            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    __syncthreads();
    out[base + 2 * threadIdx.x] = tree[2 * threadIdx.x];
    out[base + 2 * threadIdx.x + 1] = tree[2 * threadIdx.x + 1];
}

// Keep the positive elements, in order: the place of each is the number of kept ones before it.
extern "C" __global__ void compact(const int *in, int *out, int *count)
{
    __shared__ int before[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, value = in[threadIdx.x];
    const unsigned kept = __ballot_sync(~0u, value > 0);
    if (lane == 0)
        before[warp] = __popc(kept);
    __syncthreads();
    int place = __popc(kept & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++)
        place += before[w];
    if (value > 0)
        out[place] = value;
    if (threadIdx.x == blockDim.x - 1)
        *count = place + (value > 0);
}

// Every thread waits for its predecessor block through global memory: a chained scan.
extern "C" __global__ void chained_scan(const int *in, int *out, volatile int *sums, volatile int *ready)
{
    __shared__ int before;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int total = __syncthreads_count(in[i] & 1);
    if (threadIdx.x == 0) {
        int carried = 0;
        if (blockIdx.x > 0) {
            while (!ready[blockIdx.x - 1])
                ;
            __threadfence();
            carried = sums[blockIdx.x - 1];
        }
        sums[blockIdx.x] = carried + total;
        __threadfence();
        ready[blockIdx.x] = 1;
        before = carried;
    }
    __syncthreads();
    out[i] = before + total;
}
