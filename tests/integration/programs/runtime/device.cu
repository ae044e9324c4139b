// Flags of the device, host memory that kernels reach, and calls for several devices.
#include "check.h"

__global__ void store(int *to, int value)
{
    *to = value;
}

static unsigned flags()
{
    unsigned value = 0;
    CHECK(cudaGetDeviceFlags(&value));
    return value;
}

int main()
{
    int chosen = -1;
    cudaDeviceProp wanted = {};
    wanted.major = 1;
    CHECK(cudaChooseDevice(&chosen, &wanted));
    std::printf("chosen %d, no wishes: %s\n", chosen, cudaGetErrorName(cudaChooseDevice(&chosen, nullptr)));
    (void)cudaGetLastError();
    std::printf("flags before: %u\n", flags());
    CHECK(cudaSetDeviceFlags(cudaDeviceMapHost | cudaDeviceScheduleBlockingSync));
    std::printf("blocking and mapped: %u\n", flags());
    std::printf("two schedules: %s\n",
                cudaGetErrorName(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield)));
    (void)cudaGetLastError();
    CHECK(cudaInitDevice(0, cudaDeviceMapHost | cudaDeviceScheduleYield, cudaInitDeviceFlagsAreValid));
    std::printf("flags of initialization: %u\n", flags());
    int *host, *device;
    CHECK(cudaHostAlloc(&host, sizeof *host, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&device, host, 0));
    store<<<1, 1>>>(device, 42);
    CHECK(cudaDeviceSynchronize());
    std::printf("mapped %d\n", *host);
    int *other = allocate<int>(1);
    CHECK(cudaMemcpyPeer(other, 0, host, 0, sizeof *other));
    std::printf("peer copy %d\n", read(other));
    std::printf("no device: %s, itself: %s\n",
                cudaGetErrorName(cudaMemcpyPeer(other, 9, host, 0, sizeof *other)),
                cudaGetErrorName(cudaDeviceEnablePeerAccess(0, 0)));
    cudaIpcMemHandle_t handle;
    std::printf("handle: %s\n", cudaGetErrorName(cudaIpcGetMemHandle(&handle, other)));
    CHECK(cudaFreeHost(host));
}
