// A variable of every kind; `make.sh` compiled it once.
#include <cassert>

__device__ float table[16] = {1.0f, 2.0f};
__device__ int counter;
static __device__ int hidden = 3;
__constant__ float weights[8] = {1.0f};
__managed__ int everyones = 4;

extern "C" __global__ void variables(float *out)
{
    static __device__ int inner;
    __shared__ int scratch[4];
    scratch[threadIdx.x] = hidden++ + inner++;
    __syncthreads();
    assert(out != nullptr);
    out[threadIdx.x] = table[threadIdx.x] + weights[threadIdx.x] + counter++ + everyones + scratch[0];
}
