/* Prints what hipGetDeviceProperties fills in, as HIP's own header lays it out, and the attributes of the
 * same meaning. */
#include <stdio.h>
#include <stdlib.h>

#include <hip/hip_runtime_api.h>

static int attribute(hipDeviceAttribute_t which)
{
    int value;
    if (hipDeviceGetAttribute(&value, which, 0) != hipSuccess)
        exit(1);
    return value;
}

int main(void)
{
    hipDeviceProp_t found;
    if (hipGetDeviceProperties(&found, 0) != hipSuccess)
        return 1;
    (void)printf("name %s\narchitecture %s\nbytes %zu\n", found.name, found.gcnArchName,
                 found.totalGlobalMem);
    (void)printf("warp %d %d\n", found.warpSize, attribute(hipDeviceAttributeWarpSize));
    (void)printf("units %d %d\n", found.multiProcessorCount,
                 attribute(hipDeviceAttributeMultiprocessorCount));
    (void)printf("clock %d %d\n", found.clockRate, attribute(hipDeviceAttributeClockRate));
    (void)printf("block %d,%d,%d %d\n", found.maxThreadsDim[0], found.maxThreadsDim[1],
                 found.maxThreadsDim[2], attribute(hipDeviceAttributeMaxThreadsPerBlock));
    (void)printf("shared %zu %d\n", found.sharedMemPerBlock,
                 attribute(hipDeviceAttributeMaxSharedMemoryPerBlock));
    (void)printf("last members %d %d\n", found.managedMemory, found.pageableMemoryAccessUsesHostPageTables);
    (void)printf("doubles %d, kernels that launch kernels %d\n", found.arch.hasDoubles,
                 found.arch.hasDynamicParallelism);
    return 0;
}
