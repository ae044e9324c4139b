// Right on all inputs, and quick where a block has few different values.
__device__ unsigned mixed(unsigned v, int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        v ^= v >> 16;
        v *= 0x7FEB352Du;
        v ^= v >> 15;
        v += 0x9E3779B9u;
    }
    return v;
}

enum { LEVELS = 8 };

__global__ void mix(const unsigned *x, unsigned *y, int rounds)
{
    __shared__ unsigned levels[LEVELS], hashes[LEVELS], next;
    unsigned i = blockIdx.x * 256 + threadIdx.x, v = x[i];
    int mine = -1;
    for (int level = 0; level < LEVELS; ++level) {
        __syncthreads();
        if (threadIdx.x == 0)
            next = ~0u;
        __syncthreads();
        if (mine < 0)
            atomicMin(&next, threadIdx.x);
        __syncthreads();
        if (next == ~0u)
            break;
        if (threadIdx.x == next)
            levels[level] = v;
        __syncthreads();
        if (mine < 0 && levels[level] == v)
            mine = level;
    }
    if (__syncthreads_or(mine < 0)) {
        y[i] = mixed(v, rounds);
        return;
    }
    if (threadIdx.x < LEVELS)
        hashes[threadIdx.x] = mixed(levels[threadIdx.x], rounds);
    __syncthreads();
    y[i] = hashes[mine];
}

extern "C" void solution(const unsigned *x, unsigned *y, unsigned long n, int rounds)
{
    mix<<<n / 256, 256>>>(x, y, rounds);
}
