/* Prints the answers to valid and invalid calls on device memory: "call result facts" a line, the same
 * whoever serves the memory. Addresses are printed as offsets; lines that begin with "at" say where the
 * memory is. */
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>

#define MUST(call) must(#call, call)
#define GRANULE    ((size_t)2 << 20)

static void must(const char *call, CUresult result)
{
    if (result != CUDA_SUCCESS) {
        printf("%s: unexpected %d\n", call, (int)result);
        exit(1);
    }
}

static void say(const char *call, CUresult result)
{
    printf("%s %d\n", call, (int)result);
}

/* Prints the attributes of an address; `from` is the allocation's begin. */
static void describe(const char *name, CUdeviceptr address, CUdeviceptr from)
{
    static const CUpointer_attribute numbers[] = {
        CU_POINTER_ATTRIBUTE_RANGE_SIZE,  CU_POINTER_ATTRIBUTE_MAPPING_SIZE,
        CU_POINTER_ATTRIBUTE_MAPPED,      CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_ACCESS_FLAGS};
    static const CUpointer_attribute addresses[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                                    CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
                                                    CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    CUdeviceptr base = 0;
    size_t size = 0;
    CUcontext of = NULL, current;
    CUmemoryPool pool = NULL, standard;
    const CUresult range = cuMemGetAddressRange(&base, &size, address);
    printf("%s range %d %lld %zu", name, (int)range, range == 0 ? (long long)(base - from) : 0, size);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        unsigned long long value = 0;
        const CUresult result = cuPointerGetAttribute(&value, numbers[i], address);
        printf(" %d:%d:%llu", (int)numbers[i], (int)result, value);
    }
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        CUdeviceptr value = 0;
        const CUresult result = cuPointerGetAttribute(&value, addresses[i], address);
        printf(" %d:%d:%lld", (int)addresses[i], (int)result, result == 0 ? (long long)(value - from) : 0);
    }
    MUST(cuCtxGetCurrent(&current));
    MUST(cuDeviceGetDefaultMemPool(&standard, 0));
    CUresult result = cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, address);
    printf(" context %d %s", (int)result, of == current ? "current" : of == NULL ? "none" : "other");
    result = cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address);
    printf(" pool %d %s\n", (int)result, pool == standard ? "standard" : pool == NULL ? "none" : "other");
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned long long length = 77;
    int ordinal = 77;
    void *data[] = {&length, &ordinal};
    printf("%s together %d", name, (int)cuPointerGetAttributes(2, asked, data, address));
    printf(" %llu %d\n", length, ordinal);
}

static void plain(void)
{
    CUdeviceptr small = 1, other = 1, large = 1;
    size_t pitch = 0;
    say("alloc 0", cuMemAlloc(&small, 0));
    say("alloc nowhere", cuMemAlloc(NULL, 64));
    say("alloc all", cuMemAlloc(&small, (size_t)1 << 60));
    say("alloc most", cuMemAlloc(&small, (size_t)-1));
    say("alloc small", cuMemAlloc(&small, 100));
    say("alloc other", cuMemAlloc(&other, 5000));
    say("alloc large", cuMemAlloc(&large, 3 * GRANULE + 5));
    printf("at %llx %llx %llx\n", small, other, large);
    printf("aligned %d %d %d\n", small % 256 == 0, other % 256 == 0, large % 256 == 0);
    describe("small", small, small);
    describe("small inside", small + 99, small);
    describe("small behind", small + 100, small);
    describe("large", large + 2 * GRANULE, large);
    describe("large behind", large + 3 * GRANULE + 5, large);
    say("free inside", cuMemFree(small + 1));
    say("free nothing", cuMemFree(0));
    say("free unallocated", cuMemFree(64));
    say("free small", cuMemFree(small));
    say("free small again", cuMemFree(small));
    describe("freed", small, small);
    say("free large", cuMemFree(large));
    say("free large again", cuMemFree(large));
    say("free other", cuMemFree(other));
    say("pitch", cuMemAllocPitch(&small, &pitch, 100, 7, 4));
    printf("pitch of %zu\n", pitch);
    describe("pitched", small, small);
    say("free pitched", cuMemFree(small));
    say("pitch of 3", cuMemAllocPitch(&small, &pitch, 100, 7, 3));
    say("pitch without rows", cuMemAllocPitch(&small, &pitch, 100, 0, 4));
    say("pitch nowhere", cuMemAllocPitch(&small, NULL, 100, 7, 4));
    say("pitch of all", cuMemAllocPitch(&small, &pitch, 1 << 30, (size_t)1 << 50, 4));
}

static void ordered(CUstream stream)
{
    CUdeviceptr one = 1, two = 1;
    CUmemoryPool pool;
    const CUmemPoolProps shared = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                   .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    const CUmemPoolProps plain_one = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    say("async 0", cuMemAllocAsync(&one, 0, stream));
    say("async nowhere", cuMemAllocAsync(NULL, 64, stream));
    say("async all", cuMemAllocAsync(&one, (size_t)1 << 60, stream));
    say("async", cuMemAllocAsync(&one, 1000, stream));
    say("async large", cuMemAllocAsync(&two, 2 * GRANULE, NULL));
    printf("at %llx %llx\n", one, two);
    describe("async", one, one);
    MUST(cuMemsetD8Async(one, 5, 1000, stream));
    say("free async", cuMemFreeAsync(one, stream));
    say("free async waiting", cuMemFree(two));
    say("free async unallocated", cuMemFreeAsync(64, stream));
    say("plain", cuMemAlloc(&one, 64));
    say("free plain async", cuMemFreeAsync(one, stream));
    MUST(cuMemPoolCreate(&pool, &plain_one));
    say("from pool", cuMemAllocFromPoolAsync(&one, 64, pool, stream));
    describe("from pool", one, one);
    say("free from pool", cuMemFreeAsync(one, stream));
    MUST(cuStreamSynchronize(stream));
    say("trim", cuMemPoolTrimTo(pool, 0));
    say("destroy", cuMemPoolDestroy(pool));
    MUST(cuMemPoolCreate(&pool, &shared));
    say("from shared pool", cuMemAllocFromPoolAsync(&one, 64, pool, stream));
    describe("from shared pool", one, one);
    say("free from shared pool", cuMemFreeAsync(one, stream));
    say("destroy shared", cuMemPoolDestroy(pool));
    MUST(cuStreamSynchronize(stream));
}

static void captured(CUstream stream, CUstreamCaptureMode mode)
{
    CUdeviceptr outside = 0, inside = 0, wrong = 0;
    CUgraph graph = NULL;
    MUST(cuMemAlloc(&outside, 64));
    MUST(cuStreamBeginCapture(stream, mode));
    say("captured async", cuMemAllocAsync(&inside, 64, stream));
    say("captured free", cuMemFreeAsync(inside, stream));
    say("captured free of outside", cuMemFreeAsync(outside, stream));
    say("captured alloc", cuMemAlloc(&wrong, 64));
    say("captured free", cuMemFree(outside));
    say("captured end", cuStreamEndCapture(stream, &graph));
    if (graph != NULL)
        MUST(cuGraphDestroy(graph));
}

static void mapped(void)
{
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr base = 0, other = 0, plain_memory = 0;
    MUST(cuMemCreate(&memory, 2 * GRANULE, &properties, 0));
    MUST(cuMemAlloc(&plain_memory, GRANULE));
    say("reserve 0", cuMemAddressReserve(&base, 0, 0, 0, 0));
    say("reserve odd", cuMemAddressReserve(&base, 1000, 0, 0, 0));
    say("reserve flags", cuMemAddressReserve(&base, GRANULE, 0, 0, 1));
    say("reserve alignment", cuMemAddressReserve(&base, GRANULE, 3, 0, 0));
    say("reserve nowhere", cuMemAddressReserve(NULL, GRANULE, 0, 0, 0));
    say("reserve all", cuMemAddressReserve(&base, (size_t)1 << 60, 0, 0, 0));
    say("reserve", cuMemAddressReserve(&base, 8 * GRANULE, 16 * GRANULE, 0, 0));
    printf("at %llx\n", base);
    printf("aligned %d\n", base % (16 * GRANULE) == 0);
    describe("reserved", base, base);
    say("reserve taken", cuMemAddressReserve(&other, GRANULE, 0, base, 0));
    printf("elsewhere %d\n", other != base);
    MUST(cuMemAddressFree(other, GRANULE));
    say("map odd", cuMemMap(base + 512, GRANULE, 0, memory, 0));
    say("map beyond", cuMemMap(base + 7 * GRANULE, 2 * GRANULE, 0, memory, 0));
    say("map to memory", cuMemMap(plain_memory, GRANULE, 0, memory, 0));
    say("map", cuMemMap(base + GRANULE, 2 * GRANULE, 0, memory, 0));
    say("map again", cuMemMap(base + GRANULE, GRANULE, 0, memory, 0));
    say("access", cuMemSetAccess(base + GRANULE, 2 * GRANULE, &access, 1));
    describe("mapped", base + GRANULE + 5, base);
    describe("not mapped", base, base);
    MUST(cuMemsetD8(base + GRANULE, 1, 2 * GRANULE));
    say("free mapped", cuMemFree(base + GRANULE));
    say("free reservation", cuMemAddressFree(base, 8 * GRANULE));
    say("unmap a part", cuMemUnmap(base + GRANULE, GRANULE));
    say("unmap memory", cuMemUnmap(plain_memory, GRANULE));
    say("unmap", cuMemUnmap(base + GRANULE, 2 * GRANULE));
    say("unmap again", cuMemUnmap(base + GRANULE, 2 * GRANULE));
    say("free a part", cuMemAddressFree(base, GRANULE));
    say("free memory as addresses", cuMemAddressFree(plain_memory, GRANULE));
    say("free reservation", cuMemAddressFree(base, 8 * GRANULE));
    say("free reservation again", cuMemAddressFree(base, 8 * GRANULE));
    MUST(cuMemRelease(memory));
    MUST(cuMemFree(plain_memory));
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    CUdeviceptr memory = 0;
    say("alloc before all", cuMemAlloc(&memory, 64));
    MUST(cuInit(0));
    say("alloc without context", cuMemAlloc(&memory, 64));
    say("free without context", cuMemFree(64));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    plain();
    ordered(stream);
    mapped();
    captured(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    captured(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    plain();
    return 0;
}
