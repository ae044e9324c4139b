/* Prints the answers of HIP's memory calls: the same with and without a capture, except for the addresses.
 * With an argument these are printed, too. */
#include "hip_region.h"

static void *known[16];
static int known_count;

static void tell(const char *what, hipError_t result)
{
    printf("%s %d last %d\n", what, (int)result, (int)hipGetLastError());
}

static void describe(const char *what, void *address, size_t expected)
{
    hipPointerAttribute_t description = {0};
    hipDeviceptr_t start = NULL;
    size_t bytes = 0, range = 0;
    unsigned int managed = 7;
    tell(what, hipPointerGetAttributes(&description, (char *)address + 1));
    printf("  type %d device %d managed %d\n", (int)description.memoryType, description.device,
           description.isManaged);
    tell("  hipMemGetAddressRange", hipMemGetAddressRange(&start, &bytes, (char *)address + 1));
    printf("  starts %d bytes %zu of %zu\n", start == address, bytes, expected);
    tell("  hipPointerGetAttribute",
         hipPointerGetAttribute(&range, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, (char *)address + 1));
    printf("  range %zu\n", range);
    hipPointer_attribute attributes[] = {HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                         HIP_POINTER_ATTRIBUTE_IS_MANAGED};
    void *data[] = {&start, &managed};
    start = NULL;
    tell("  hipDrvPointerGetAttributes",
         hipDrvPointerGetAttributes(2, attributes, data, (char *)address + 1));
    printf("  starts %d managed %u\n", start == address, managed);
    tell("  hipMemPtrGetInfo", hipMemPtrGetInfo(address, &bytes));
    printf("  allocated %zu\n", bytes);
}

static void keep(const char *what, hipError_t result, void **address)
{
    printf("%s has an address %d, ", what, *address != NULL);
    tell("with", result);
    if (result == hipSuccess && *address != NULL)
        known[known_count++] = *address;
    *address = NULL;
}

int main(int argc, char **argv)
{
    void *address = NULL;
    size_t pitch = 0;
    hipPitchedPtr volume = {0};
    hipStream_t stream;
    (void)argv;
    CHECK(hipStreamCreate(&stream));
    keep("hipMalloc", hipMalloc(&address, 1000), &address);
    describe("hipMalloc", known[0], 1000);
    keep("hipExtMallocWithFlags", hipExtMallocWithFlags(&address, 2000, hipDeviceMallocDefault), &address);
    keep("hipMallocPitch", hipMallocPitch(&address, &pitch, 100, 7), &address);
    printf("pitch %zu\n", pitch);
    keep("hipMemAllocPitch", hipMemAllocPitch((hipDeviceptr_t *)&address, &pitch, 100, 7, 4), &address);
    printf("pitch %zu\n", pitch);
    keep("hipMalloc3D", hipMalloc3D(&volume, (hipExtent){100, 7, 3}), &volume.ptr);
    printf("pitch %zu of %zu by %zu\n", volume.pitch, volume.xsize, volume.ysize);
    keep("hipMallocAsync", hipMallocAsync(&address, 3000, stream), &address);
    for (int i = 0; argc > 1 && i < known_count; i++)
        say("address", known[i]);

    tell("hipMalloc of nothing", hipMalloc(&address, 0));
    tell("hipMalloc of too much", hipMalloc(&address, SIZE_MAX / 4));
    tell("hipMalloc to nowhere", hipMalloc(NULL, 8));
    tell("hipMalloc3D of nothing", hipMalloc3D(&volume, (hipExtent){0, 7, 3}));
    tell("hipFree of nothing", hipFree(NULL));
    tell("hipFree of an unallocated address", hipFree((void *)4096));
    tell("hipFree of a part", hipFree((char *)known[0] + 256));
    tell("hipMemset of an unallocated address", hipMemset((void *)4096, 0, 8));
    tell("hipGetDevice", hipGetDevice(&(int){0}));
    tell("hipMemcpy", hipMemcpy(known[1], known[0], 1000, hipMemcpyDefault));
    tell("hipStreamQuery", hipStreamQuery(stream));
    tell("hipFreeAsync", hipFreeAsync(known[known_count - 1], stream));
    tell("hipStreamSynchronize", hipStreamSynchronize(stream));
    for (int i = 0; i < known_count - 1; i++)
        tell("hipFree", hipFree(known[i]));
    tell("hipFree again", hipFree(known[0]));
    return 0;
}
