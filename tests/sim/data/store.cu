extern "C" __global__ void store(int *to, int value)
{
    to[threadIdx.x] = value + 1;
}
