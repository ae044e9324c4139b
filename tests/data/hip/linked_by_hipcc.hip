// Source of linked_by_hipcc.o: see linked_by_hipcc.md. Prints the results of HIP calls.
#include <hip/hip_runtime.h>
#include <stdio.h>

__device__ float scale = 2.0f;
__constant__ int table[4];

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = scale * a * x[i] + y[i] + table[i & 3];
}

template <typename T> __global__ void fill(T *p, T value, int n)
{
    __shared__ T tile[64];
    tile[threadIdx.x % 64] = value;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = tile[threadIdx.x % 64];
}

#define SAY(call) printf("%s -> %d\n", #call, (int)(call))

int main()
{
    int count = -1, version = -1, values[4] = {1, 2, 3, 4};
    float *x = nullptr, *y = nullptr;
    void *address = nullptr;
    hipFuncAttributes attributes = {};
    SAY(hipRuntimeGetVersion(&version));
    SAY(hipGetDeviceCount(&count));
    printf("version %d count %d\n", version, count);
    SAY(hipMalloc((void **)&x, 4096));
    SAY(hipMalloc((void **)&y, 4096));
    SAY(hipGetSymbolAddress(&address, HIP_SYMBOL(scale)));
    SAY(hipMemcpyToSymbol(HIP_SYMBOL(table), values, sizeof values));
    SAY(hipFuncGetAttributes(&attributes, (const void *)saxpy));
    hipLaunchKernelGGL(fill<float>, dim3(4), dim3(256), 0, 0, x, 1.0f, 1024);
    SAY(hipPeekAtLastError());
    SAY(hipGetLastError());
    SAY(hipGetLastError());
    saxpy<<<dim3(4, 1), 256, 128>>>(1024, 3.0f, x, y);
    SAY(hipGetLastError());
    int n = 1024;
    float a = 3.0f;
    void *arguments[] = {&n, &a, &x, &y};
    SAY(hipLaunchCooperativeKernel((const void *)saxpy, dim3(2), dim3(64), arguments, 0, nullptr));
    SAY(hipDeviceSynchronize());
    SAY(hipFree(x));
    SAY(hipFree(y));
    printf("%s: %s\n", hipGetErrorName(hipErrorInvalidDevice), hipGetErrorString(hipErrorInvalidDevice));
    return 0;
}
