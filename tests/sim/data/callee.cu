__device__ int base = 1000;
static __device__ int calls = 20;
static __device__ __noinline__ int twice(int value)
{
    return calls * value;
}
extern "C" __device__ int answer(int value)
{
    calls += 10;
    return twice(value) + 3;
}
