// Every way to launch, and what a launch that cannot be leaves behind.
#include "check.h"
#include <cooperative_groups.h>

__global__ void reverse(int *out)
{
    extern __shared__ int row[];
    row[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = row[blockDim.x - 1 - threadIdx.x];
}

__global__ void add(int *sum, int value)
{
    atomicAdd(sum, value);
}

template <typename T> __global__ void scale(T *value, T by)
{
    *value *= by;
}

__global__ void total(int *data, int count, int *out)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    data[grid.thread_rank()] = (int)grid.thread_rank();
    grid.sync();
    if (grid.thread_rank() == 0)
        for (int i = 0; i < count; i++)
            *out += data[i];
}

__global__ void no_arguments()
{
}

static int launch_within_arguments(int *sum)
{
    add<<<1, 1>>>(sum, 1);
    return 10;
}

int main()
{
    int *out = allocate<int>(1024), *sum = allocate<int>(1);
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));

    reverse<<<1, 256, 256 * sizeof(int)>>>(out);
    CHECK(cudaGetLastError());
    std::printf("reverse %d\n", read(out + 3));
    const size_t most = device.sharedMemPerBlockOptin;
    reverse<<<1, 8, most>>>(out);
    std::printf("too much shared memory: %s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most));
    reverse<<<1, 8, most>>>(out);
    CHECK(cudaGetLastError());
    std::printf("all of it %d\n", read(out + 3));

    float *one = allocate<float>(1);
    const float three = 3;
    CHECK(cudaMemcpy(one, &three, sizeof three, cudaMemcpyHostToDevice));
    scale<<<1, 1>>>(one, 2.5f);
    std::printf("template %g\n", read(one));
    no_arguments<<<1, 1>>>();
    CHECK(cudaGetLastError());
    add<<<dim3(2, 3), dim3(4, 2, 2)>>>(sum, launch_within_arguments(sum));
    std::printf("grid %d\n", read(sum));

    int count = 512, *data = allocate<int>(512);
    void *arguments[] = {&data, &count, &out};
    CHECK(cudaMemset(out, 0, 4));
    CHECK(cudaLaunchCooperativeKernel(total, 4, 128, arguments, 0, nullptr));
    std::printf("cooperative %d\n", read(out));
    CHECK(cudaMemset(sum, 0, 4));
    cudaLaunchConfig_t config = {};
    config.gridDim = 3;
    config.blockDim = 32;
    CHECK(cudaLaunchKernelEx(&config, add, sum, 2));
    std::printf("configured %d\n", read(sum));
    void *plain[] = {&sum, &count};
    CHECK(cudaLaunchKernel(add, 1, 1, plain, 0, nullptr));
    std::printf("by address %d\n", read(sum));

    add<<<1, 2048>>>(sum, 1);
    std::printf("block of 2048: %s,", cudaGetErrorName(cudaPeekAtLastError()));
    std::printf(" %s,", cudaGetErrorName(cudaGetLastError()));
    std::printf(" %s\n", cudaGetErrorName(cudaGetLastError()));
    add<<<0, 1>>>(sum, 1);
    std::printf("no blocks: %s\n", cudaGetErrorName(cudaGetLastError()));
    std::printf("no kernel: %s\n", cudaGetErrorName(cudaLaunchKernel(&three, 1, 1, plain, 0, nullptr)));
    (void)cudaGetLastError();

    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, reverse));
    std::printf("threads %d, shared memory as set: %d\n", attributes.maxThreadsPerBlock,
                attributes.maxDynamicSharedSizeBytes == (int)most);
    int blocks, grid, block;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1024, 0));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
    std::printf("occupancy %d, %d of the block\n", blocks, block);

    add<<<1, 1>>>(reinterpret_cast<int *>(16), 1);
    std::printf("fault: %s,", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf(" %s\n", cudaGetErrorName(cudaMalloc(&data, 4)));
}
