// launch: grid=(ceil(n/256), 1, 1) block=256

extern "C" __global__ void solution(const unsigned *x, unsigned *y, unsigned long n, int rounds)
{
    unsigned long i = blockIdx.x * 256ul + threadIdx.x;
    unsigned v = x[i];
    for (int round = 0; round < rounds; ++round) {
        v ^= v >> 16;
        v *= 0x7FEB352Du;
        v ^= v >> 15;
        v += 0x9E3779B9u;
    }
    y[i] = v;
}
