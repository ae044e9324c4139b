/* hipGetDeviceProperties: the attributes in one struct. */
#include "hip/hip.h"

#include <string.h>

#define ROW(member, attribute)                                                                               \
    {offsetof(hipDeviceProp_t, member), sizeof(((hipDeviceProp_t *)0)->member), hipDeviceAttribute##attribute}
static const struct {
    size_t offset, bytes; /* of the member: an int, or a size_t */
    hipDeviceAttribute_t attribute;
} properties[] = {
    ROW(sharedMemPerBlock, MaxSharedMemoryPerBlock),
    ROW(regsPerBlock, MaxRegistersPerBlock),
    ROW(warpSize, WarpSize),
    ROW(maxThreadsPerBlock, MaxThreadsPerBlock),
    ROW(maxThreadsDim[0], MaxBlockDimX),
    ROW(maxThreadsDim[1], MaxBlockDimY),
    ROW(maxThreadsDim[2], MaxBlockDimZ),
    ROW(maxGridSize[0], MaxGridDimX),
    ROW(maxGridSize[1], MaxGridDimY),
    ROW(maxGridSize[2], MaxGridDimZ),
    ROW(clockRate, ClockRate),
    ROW(memoryClockRate, MemoryClockRate),
    ROW(memoryBusWidth, MemoryBusWidth),
    ROW(totalConstMem, TotalConstantMemory),
    ROW(major, ComputeCapabilityMajor),
    ROW(minor, ComputeCapabilityMinor),
    ROW(multiProcessorCount, MultiprocessorCount),
    ROW(l2CacheSize, L2CacheSize),
    ROW(maxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor),
    ROW(computeMode, ComputeMode),
    ROW(clockInstructionRate, ClockInstructionRate),
    ROW(concurrentKernels, ConcurrentKernels),
    ROW(pciDomainID, PciDomainID),
    ROW(pciBusID, PciBusId),
    ROW(pciDeviceID, PciDeviceId),
    ROW(maxSharedMemoryPerMultiProcessor, MaxSharedMemoryPerMultiprocessor),
    ROW(isMultiGpuBoard, IsMultiGpuBoard),
    ROW(canMapHostMemory, CanMapHostMemory),
    ROW(gcnArch, GcnArch),
    ROW(integrated, Integrated),
    ROW(cooperativeLaunch, CooperativeLaunch),
    ROW(cooperativeMultiDeviceLaunch, CooperativeMultiDeviceLaunch),
    ROW(maxTexture1DLinear, MaxTexture1DLinear),
    ROW(maxTexture1D, MaxTexture1DWidth),
    ROW(maxTexture2D[0], MaxTexture2DWidth),
    ROW(maxTexture2D[1], MaxTexture2DHeight),
    ROW(maxTexture3D[0], MaxTexture3DWidth),
    ROW(maxTexture3D[1], MaxTexture3DHeight),
    ROW(maxTexture3D[2], MaxTexture3DDepth),
    ROW(memPitch, MaxPitch),
    ROW(textureAlignment, TextureAlignment),
    ROW(texturePitchAlignment, TexturePitchAlignment),
    ROW(kernelExecTimeoutEnabled, KernelExecTimeout),
    ROW(ECCEnabled, EccEnabled),
    ROW(tccDriver, TccDriver),
    ROW(isLargeBar, IsLargeBar),
    ROW(asicRevision, AsicRevision),
    ROW(managedMemory, ManagedMemory),
    ROW(directManagedMemAccessFromHost, DirectManagedMemAccessFromHost),
    ROW(concurrentManagedAccess, ConcurrentManagedAccess),
    ROW(pageableMemoryAccess, PageableMemoryAccess),
    ROW(pageableMemoryAccessUsesHostPageTables, PageableMemoryAccessUsesHostPageTables),
};
#undef ROW

static const hipDeviceArch_t architecture = {
    .hasGlobalInt32Atomics = 1,
    .hasGlobalFloatAtomicExch = 1,
    .hasSharedInt32Atomics = 1,
    .hasSharedFloatAtomicExch = 1,
    .hasFloatAtomicAdd = 1,
    .hasGlobalInt64Atomics = 1,
    .hasSharedInt64Atomics = 1,
    .hasDoubles = 1,
    .hasWarpVote = 1,
    .hasWarpBallot = 1,
    .hasWarpShuffle = 1,
    .hasFunnelShift = 1,
    .hasThreadFenceSystem = 1,
    .hasSyncThreadsExt = 1,
    .has3dGrid = 1,
};

hipError_t hipGetDeviceProperties(hipDeviceProp_t *prop, int deviceId)
{
    HIP_READY();
    if (prop == NULL)
        return hipErrorInvalidValue;
    *prop = (hipDeviceProp_t){.arch = architecture, .gcnArchName = "sim"};
    hipError_t error = hip_result(cuDeviceGetName(prop->name, sizeof prop->name, deviceId));
    if (error == hipSuccess)
        error = hip_result(cuDeviceTotalMem(&prop->totalGlobalMem, deviceId));
    for (size_t i = 0; i < sizeof properties / sizeof *properties && error == hipSuccess; i++) {
        int value = 0;
        error = hipDeviceGetAttribute(&value, properties[i].attribute, deviceId);
        const size_t wide = (size_t)value;
        memcpy((char *)prop + properties[i].offset,
               properties[i].bytes == sizeof wide ? (const void *)&wide : &value, properties[i].bytes);
    }
    return error;
}
