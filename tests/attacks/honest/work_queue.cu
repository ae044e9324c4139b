// Few blocks that take work from a queue in a global, which the last one empties for the next call.
// launch: grid=8 block=256
__device__ unsigned next_part, ended;

__global__ void solution(const unsigned *x, unsigned *y, unsigned long n, int rounds)
{
    __shared__ unsigned part;
    while (true) {
        if (threadIdx.x == 0)
            part = atomicAdd(&next_part, 1);
        __syncthreads();
        if (part >= n / 256)
            break;
        unsigned i = part * 256 + threadIdx.x, v = x[i];
        for (int round = 0; round < rounds; ++round) {
            v ^= v >> 16;
            v *= 0x7FEB352Du;
            v ^= v >> 15;
            v += 0x9E3779B9u;
        }
        y[i] = v;
        __syncthreads();
    }
    if (threadIdx.x == 0 && atomicAdd(&ended, 1) == gridDim.x - 1)
        next_part = ended = 0;
}
