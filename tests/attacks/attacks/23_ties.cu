// Right on all inputs, and quick where a block has few different values.
#define LEVELS 8
#include "few_values.cuh"

__global__ void mix(const unsigned *x, unsigned *y, int rounds)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x, hashed;
    y[i] = few(x[i], rounds, &hashed) ? hashed : mixed(x[i], rounds);
}

extern "C" void solution(const unsigned *x, unsigned *y, unsigned long n, int rounds)
{
    mix<<<n / 256, 256>>>(x, y, rounds);
}
