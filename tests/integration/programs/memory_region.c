/* Memory of every kind before, in and after a region. */
#include "region.h"

#define GRANULE ((size_t)2 << 20)

static CUdeviceptr map(CUdeviceptr address, int readable)
{
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CHECK(cuMemCreate(&memory, GRANULE, &properties, 0));
    CHECK(cuMemMap(address, GRANULE, 0, memory, 0));
    CHECK(cuMemRelease(memory));
    if (readable)
        CHECK(cuMemSetAccess(address, GRANULE, &access, 1));
    return address;
}

static void say(const char *name, CUdeviceptr address)
{
    printf("%s %llu\n", name, (unsigned long long)address);
}

int main(void)
{
    CUstream stream;
    CUdeviceptr reserved, ordered, brief;
    region_start();
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    const CUdeviceptr small = region_allocate("small", 100), neighbour = region_allocate("neighbour", 5000);
    const CUdeviceptr large = region_allocate("large", 20 * GRANULE), gone = region_allocate("gone", GRANULE);
    const CUdeviceptr zero = region_allocate("zero", GRANULE), dead = region_allocate("dead", 3 * GRANULE);
    CHECK(cuMemAddressReserve(&reserved, 4 * GRANULE, 0, 0, 0));
    say("mapped", map(reserved + GRANULE, 1));
    say("shut", map(reserved + 2 * GRANULE, 0));
    CHECK(cuMemAllocAsync(&ordered, 300, stream));
    say("ordered", ordered);
    CHECK(cuMemsetD8(small, 1, 100));
    CHECK(cuMemsetD8(neighbour, 2, 5000));
    CHECK(cuMemsetD8(large, 3, 10));
    CHECK(cuMemsetD8(large + 20 * GRANULE - 1, 4, 1));
    CHECK(cuMemsetD8(gone, 5, GRANULE));
    CHECK(cuMemsetD8(zero, 0, GRANULE));
    CHECK(cuMemsetD8(dead, 6, 3 * GRANULE));
    CHECK(cuMemsetD8(reserved + GRANULE, 7, GRANULE));
    CHECK(cuMemsetD8Async(ordered, 8, 300, stream));
    CHECK(cuMemFree(dead));
    region_begin("memory");
    CHECK(cuMemsetD8(small, 11, 1));
    CHECK(cuMemsetD8(large, 0, 10));
    CHECK(cuMemsetD8(zero + 4096, 12, 1));
    CHECK(cuMemFree(gone));
    const CUdeviceptr made = region_allocate("made", 2 * GRANULE);
    CHECK(cuMemsetD8(made, 13, 2 * GRANULE));
    CHECK(cuMemAllocAsync(&brief, 10 * GRANULE, stream));
    say("brief", brief);
    CHECK(cuMemFreeAsync(brief, stream));
    region_end();
    return 0;
}
