/* mistakes: a program whose errors a summary has to show. It prints the driver's answer to each of them.
 *
 * Leaks of three kinds of memory, a double free, a free of an address that no call gave, an allocation beyond
 * the device's memory, a refused launch, a module that does not load, unified copies in all directions. */
#include "scale.h"

#include <string.h>

enum { BYTES = 4096 };

static void print_result(const char *call, CUresult result)
{
    printf("%s %d\n", call, (int)result);
}

int main(void)
{
    const struct driver driver = SCALE_LINKED;
    CUdeviceptr kept, freed, lazy, managed;
    CUmodule module, broken;
    CUfunction function;
    CUstream stream;
    char host[BYTES], *pinned;
    memset(host, 1, sizeof host);
    scale_start(&driver);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuModuleLoadData(&module, scale_ptx));
    CHECK(cuModuleGetFunction(&function, module, "scale"));
    CHECK(cuMemAlloc(&kept, 2 * BYTES));
    CHECK(cuMemAlloc(&freed, BYTES));
    CHECK(cuMemHostAlloc((void **)&pinned, 3 * BYTES, 0));
    CHECK(cuMemAllocManaged(&managed, 5 * BYTES, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemAllocAsync(&lazy, 7 * BYTES, stream));

    CHECK(cuMemcpyHtoD(kept, host, BYTES));
    CHECK(cuMemcpyDtoH(host, kept, BYTES));
    CHECK(cuMemcpyDtoD(freed, kept, BYTES));
    CHECK(cuMemcpy(kept, (CUdeviceptr)host, BYTES));
    CHECK(cuMemcpyAsync((CUdeviceptr)pinned, kept, BYTES, stream));
    CHECK(cuMemcpyAsync(kept + 64, freed, 64, stream));
    CHECK(cuStreamSynchronize(stream));

    float factor = 2;
    unsigned int count = BYTES / sizeof factor;
    void *parameters[] = {&kept, &factor, &count};
    CHECK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
    print_result("launch", cuLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, stream, parameters, NULL));
    CHECK(cuStreamSynchronize(stream));

    print_result("load", cuModuleLoadData(&broken, ".version 7.5\n.target sm_75\nnonsense\n"));
    print_result("function", cuModuleGetFunction(&function, module, "absent"));
    CHECK(cuMemFree(freed));
    print_result("double free", cuMemFree(freed));
    print_result("invalid free", cuMemFree((CUdeviceptr)0x12345600));
    CHECK(cuMemFreeAsync(lazy, stream));
    CHECK(cuStreamSynchronize(stream));
    print_result("too much", cuMemAlloc(&freed, (size_t)1 << 50));
    return 0;
}
