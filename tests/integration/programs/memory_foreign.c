/* A kernel is given memory of every kind that a capture does not hold, and once of one that it does. */
#include "region.h"

static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry keep(.param .u64 memory)\n{\n    ret;\n}\n";

static CUfunction keep;

static void give(CUdeviceptr address)
{
    void *parameters[] = {&address};
    CHECK(cuLaunchKernel(keep, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
}

static void give_host(const void *address)
{
    give((CUdeviceptr)(size_t)address);
}

int main(void)
{
    static char own[4096];
    const CUmemPoolProps shared = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                   .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmodule module;
    CUmemoryPool pool;
    CUdeviceptr managed, pooled, freed;
    void *host, *mapped;
    region_start();
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&keep, module, "keep"));
    CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemAllocManaged(&freed, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemFree(freed));
    CHECK(cuMemAllocHost(&host, 4096));
    CHECK(cuMemHostAlloc(&mapped, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemHostRegister(own, sizeof own, 0));
    CHECK(cuMemPoolCreate(&pool, &shared));
    CHECK(cuMemAllocFromPoolAsync(&pooled, 4096, pool, NULL));
    const CUdeviceptr memory = region_allocate("memory", 4096);
    region_begin("foreign");
    give(memory);
    give(freed);
    give(managed + 5);
    give_host(host);
    give_host((char *)mapped + 4095);
    give_host(own);
    give(pooled);
    region_end();
    CHECK(cuMemFreeHost(host));
    CHECK(cuMemHostUnregister(own));
    CHECK(cuMemFreeAsync(pooled, NULL));
    region_begin("no more");
    give_host(host);
    give_host(own);
    give(pooled);
    region_end();
    return 0;
}
