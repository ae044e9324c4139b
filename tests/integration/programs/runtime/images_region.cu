// Regions with a kernel that reads a texture, with a copy to an array, and with neither.
#include "check.h"
#include <dlfcn.h>

__global__ void gather(cudaTextureObject_t texture, float *to)
{
    to[threadIdx.x] = tex1Dfetch<float>(texture, 31 - (int)threadIdx.x);
}

__global__ void fill(float *to)
{
    to[threadIdx.x] = 1;
}

// The shim's own exports, which no library declares.
static void begin(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, "neutrino_region_begin");
    if (function == nullptr || reinterpret_cast<int (*)(const char *)>(function)(name) != 0)
        std::exit(1);
}

static void end()
{
    if (reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "neutrino_region_end"))() != 0)
        std::exit(1);
}

int main()
{
    float *from = allocate<float>(32), *to = allocate<float>(32), host[32] = {};
    cudaTextureObject_t texture;
    cudaArray_t array;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = from;
    resource.res.linear.desc = channel;
    resource.res.linear.sizeInBytes = 128;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    begin("texture");
    gather<<<1, 32>>>(texture, to);
    end();
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaMallocArray(&array, &channel, 32));
    begin("array");
    CHECK(cudaMemcpy2DToArrayAsync(array, 0, 0, host, 128, 128, 1, cudaMemcpyHostToDevice, nullptr));
    end();
    begin("neither");
    fill<<<1, 32>>>(to);
    end();
    CHECK(cudaDeviceSynchronize());
}
