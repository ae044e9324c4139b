extern "C" __device__ int answer(int);
extern __device__ int base;
static __device__ int calls = 2;
static __device__ __noinline__ int twice(int value)
{
    return calls * value;
}
extern "C" __global__ void call(int *to, int value)
{
    *to = answer(value) + base + twice(5);
}
