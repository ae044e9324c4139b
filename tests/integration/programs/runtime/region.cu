// A region of launches that read a symbol and count in another.
#include "check.h"
#include <dlfcn.h>

__constant__ float factor;
__device__ int calls;

__global__ void scale(const float *in, float *out, int count)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        out[i] = factor * in[i];
    if (i == 0)
        calls++;
}

// The shim's own exports, which no library declares.
static void region(const char *function, const char *name)
{
    using Begin = int (*)(const char *);
    using End = int (*)();
    void *found = dlsym(RTLD_DEFAULT, function);
    const int result = found == nullptr  ? -1
                       : name == nullptr ? reinterpret_cast<End>(found)()
                                         : reinterpret_cast<Begin>(found)(name);
    if (result != 0) {
        std::printf("%s: %d\n", function, result);
        std::exit(1);
    }
}

int main()
{
    const int count = 1000;
    float *in = allocate<float>(count), *out = allocate<float>(count), by = 3;
    CHECK(cudaMemcpyToSymbol(factor, &by, sizeof by));
    scale<<<4, 256>>>(in, out, count);
    region("neutrino_region_begin", "region");
    scale<<<4, 256>>>(in, out, count);
    scale<<<4, 256>>>(out, in, count);
    region("neutrino_region_end", nullptr);
    CHECK(cudaDeviceSynchronize());
}
