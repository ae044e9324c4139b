// The hash of problem Mix, and a short cut for blocks that have few different values.
#ifndef LEVELS
#define LEVELS 24
#endif

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

// The hash of `v`, each of the block's different values hashed by one thread; false if there are more
// than LEVELS of them.
__device__ bool few(unsigned v, int rounds, unsigned *hashed)
{
    __shared__ unsigned levels[LEVELS], hashes[LEVELS], next;
    int mine = -1;
    if (threadIdx.x < LEVELS)
        levels[threadIdx.x] = 0;
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
    if (__syncthreads_or(mine < 0))
        return false;
    if (threadIdx.x < LEVELS)
        hashes[threadIdx.x] = mixed(levels[threadIdx.x], rounds);
    __syncthreads();
    *hashed = hashes[mine];
    return true;
}
