// Managed, static, and static constant variables. Compiled as in README.md.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

__attribute__((managed)) int everyones = 3;
static __device__ int hidden;
static const __device__ int fixed[4] = {1, 2, 3, 4};

extern "C" __global__ void changes(int *out, int which)
{
    *out = everyones + hidden + fixed[which & 3];
    hidden = which;
    everyones++;
}
