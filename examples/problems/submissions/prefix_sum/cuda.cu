/* Three launches: each block scans its tile and keeps its total; one block scans the totals; each block adds
 * the total of all tiles before its own. */
#include <cuda_runtime.h>

constexpr int THREADS = 256, EACH = 16, TILE = THREADS * EACH, TILES_MAX = 1 << 14;

static __device__ int totals[TILES_MAX];

/* Sum of this and all lower threads' values; `all` is that of the block. */
static __device__ int scan_block(int value, int *all)
{
    __shared__ int warps[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        const int lower = __shfl_up_sync(0xffffffffu, value, lanes);
        if (lane >= lanes)
            value += lower;
    }
    __syncthreads(); /* warps may still be read from the last time */
    if (lane == 31)
        warps[warp] = value;
    __syncthreads();
    int before = 0;
    *all = 0;
    for (int i = 0; i < THREADS / 32; i++) {
        before += i < warp ? warps[i] : 0;
        *all += warps[i];
    }
    return before + value;
}

static __global__ void scan_tiles(const int *x, int *y, size_t n)
{
    __shared__ int tile[TILE];
    const size_t begin = blockIdx.x * (size_t)TILE;
    for (int i = threadIdx.x; i < TILE; i += THREADS)
        tile[i] = begin + i < n ? x[begin + i] : 0;
    __syncthreads();
    int *const own = tile + threadIdx.x * EACH;
    int sum = 0, all;
    for (int i = 0; i < EACH; i++)
        sum += own[i];
    int running = scan_block(sum, &all) - sum;
    for (int i = 0; i < EACH; i++)
        own[i] = running += own[i];
    __syncthreads();
    for (int i = threadIdx.x; i < TILE; i += THREADS)
        if (begin + i < n)
            y[begin + i] = tile[i];
    if (threadIdx.x == 0)
        totals[blockIdx.x] = all;
}

/* From here on totals has sums of all tiles before. */
static __global__ void scan_totals(int tiles)
{
    int before = 0;
    for (int begin = 0; begin < tiles; begin += THREADS) {
        const int i = begin + threadIdx.x, total = i < tiles ? totals[i] : 0;
        int all;
        const int sum = scan_block(total, &all);
        if (i < tiles)
            totals[i] = before + sum - total;
        before += all;
    }
}

static __global__ void add_totals(int *y, size_t n)
{
    const int before = totals[blockIdx.x];
    const size_t begin = blockIdx.x * (size_t)TILE;
    for (int i = threadIdx.x; i < TILE; i += THREADS)
        if (begin + i < n)
            y[begin + i] += before;
}

extern "C" void solution(const int *x, int *y, size_t n)
{
    const size_t tiles = (n + TILE - 1) / TILE;
    if (tiles == 0 || tiles > TILES_MAX)
        return;
    scan_tiles<<<tiles, THREADS>>>(x, y, n);
    scan_totals<<<1, THREADS>>>((int)tiles);
    add_totals<<<tiles, THREADS>>>(y, n);
}
