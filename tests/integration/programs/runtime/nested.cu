// A kernel that launches a kernel.
#include "check.h"

__global__ void inner(int *to)
{
    *to = 7;
}

__global__ void outer(int *to)
{
    inner<<<1, 1>>>(to);
}

int main()
{
    int *to = allocate<int>(1);
    outer<<<1, 1>>>(to);
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
