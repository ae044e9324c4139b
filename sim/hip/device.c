/* Device attributes, with HIP's numbers. */
#include "hip/hip.h"

/* HIP and CUDA number attributes differently. AMD's runtime supports some "on CUDA only"; the CPU driver
 * returns them where it can. */
#define ROW(hip, driver) {hipDeviceAttribute##hip, CU_DEVICE_ATTRIBUTE_##driver}
static const struct {
    hipDeviceAttribute_t hip;
    CUdevice_attribute driver;
} rows[] = {
    ROW(EccEnabled, ECC_ENABLED),
    ROW(AccessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE),
    ROW(AsyncEngineCount, ASYNC_ENGINE_COUNT),
    ROW(CanMapHostMemory, CAN_MAP_HOST_MEMORY),
    ROW(CanUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
    ROW(ClockRate, CLOCK_RATE),
    ROW(ComputeMode, COMPUTE_MODE),
    ROW(ComputePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED),
    ROW(ConcurrentKernels, CONCURRENT_KERNELS),
    ROW(ConcurrentManagedAccess, CONCURRENT_MANAGED_ACCESS),
    ROW(CooperativeLaunch, COOPERATIVE_LAUNCH),
    ROW(DeviceOverlap, GPU_OVERLAP),
    ROW(DirectManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
    ROW(GlobalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED),
    ROW(HostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED),
    ROW(Integrated, INTEGRATED),
    ROW(IsMultiGpuBoard, MULTI_GPU_BOARD),
    ROW(KernelExecTimeout, KERNEL_EXEC_TIMEOUT),
    ROW(L2CacheSize, L2_CACHE_SIZE),
    ROW(LocalL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED),
    ROW(ComputeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR),
    ROW(ManagedMemory, MANAGED_MEMORY),
    ROW(MaxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR),
    ROW(MaxBlockDimX, MAX_BLOCK_DIM_X),
    ROW(MaxBlockDimY, MAX_BLOCK_DIM_Y),
    ROW(MaxBlockDimZ, MAX_BLOCK_DIM_Z),
    ROW(MaxGridDimX, MAX_GRID_DIM_X),
    ROW(MaxGridDimY, MAX_GRID_DIM_Y),
    ROW(MaxGridDimZ, MAX_GRID_DIM_Z),
    ROW(MaxSurface1D, MAXIMUM_SURFACE1D_WIDTH),
    ROW(MaxTexture1DWidth, MAXIMUM_TEXTURE1D_WIDTH),
    ROW(MaxTexture1DLinear, MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
    ROW(MaxTexture2DWidth, MAXIMUM_TEXTURE2D_WIDTH),
    ROW(MaxTexture2DHeight, MAXIMUM_TEXTURE2D_HEIGHT),
    ROW(MaxTexture3DWidth, MAXIMUM_TEXTURE3D_WIDTH),
    ROW(MaxTexture3DHeight, MAXIMUM_TEXTURE3D_HEIGHT),
    ROW(MaxTexture3DDepth, MAXIMUM_TEXTURE3D_DEPTH),
    ROW(MaxThreadsDim, MAX_BLOCK_DIM_X),
    ROW(MaxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
    ROW(MaxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR),
    ROW(MaxPitch, MAX_PITCH),
    ROW(MemoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH),
    ROW(MemoryClockRate, MEMORY_CLOCK_RATE),
    ROW(ComputeCapabilityMinor, COMPUTE_CAPABILITY_MINOR),
    ROW(MultiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID),
    ROW(MultiprocessorCount, MULTIPROCESSOR_COUNT),
    ROW(PageableMemoryAccess, PAGEABLE_MEMORY_ACCESS),
    ROW(PageableMemoryAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
    ROW(PciBusId, PCI_BUS_ID),
    ROW(PciDeviceId, PCI_DEVICE_ID),
    ROW(PciDomainID, PCI_DOMAIN_ID),
    ROW(PersistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE),
    ROW(MaxRegistersPerBlock, MAX_REGISTERS_PER_BLOCK),
    ROW(MaxRegistersPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR),
    ROW(ReservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK),
    ROW(MaxSharedMemoryPerBlock, MAX_SHARED_MEMORY_PER_BLOCK),
    ROW(SharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    ROW(SharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    ROW(SingleToDoublePrecisionPerfRatio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO),
    ROW(StreamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED),
    ROW(SurfaceAlignment, SURFACE_ALIGNMENT),
    ROW(TccDriver, TCC_DRIVER),
    ROW(TextureAlignment, TEXTURE_ALIGNMENT),
    ROW(TexturePitchAlignment, TEXTURE_PITCH_ALIGNMENT),
    ROW(TotalConstantMemory, TOTAL_CONSTANT_MEMORY),
    ROW(UnifiedAddressing, UNIFIED_ADDRESSING),
    ROW(WarpSize, WARP_SIZE),
    ROW(MemoryPoolsSupported, MEMORY_POOLS_SUPPORTED),
    ROW(ClockInstructionRate, CLOCK_RATE),
    ROW(MaxSharedMemoryPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    ROW(PhysicalMultiProcessorCount, MULTIPROCESSOR_COUNT),
};
#undef ROW

/* Attributes that CUDA's driver lacks. */
static hipError_t own_attribute(int *pi, hipDeviceAttribute_t attr)
{
    switch (attr) {
    case hipDeviceAttributeCooperativeMultiDeviceLaunch:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem:
    case hipDeviceAttributeGcnArch: /* superseded by its name */
    case hipDeviceAttributeAsicRevision:
    case hipDeviceAttributeImageSupport:
        *pi = 0;
        return hipSuccess;
    case hipDeviceAttributeIsLargeBar: /* device memory is the host's */
    case hipDeviceAttributeCanUseStreamWaitValue:
    case hipDeviceAttributeFineGrainSupport:
        *pi = 1;
        return hipSuccess;
    default:
        return hipErrorInvalidValue;
    }
}

hipError_t hipDeviceGetAttribute(int *pi, hipDeviceAttribute_t attr, int deviceId)
{
    HIP_READY();
    int ignored;
    if (pi == NULL)
        return hipErrorInvalidValue;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].hip == attr)
            return hip_result(cuDeviceGetAttribute(pi, rows[i].driver, deviceId));
    const hipError_t error =
        hip_result(cuDeviceGetAttribute(&ignored, CU_DEVICE_ATTRIBUTE_WARP_SIZE, deviceId));
    return error == hipSuccess ? own_attribute(pi, attr) : error;
}

hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device)
{
    if (major == NULL || minor == NULL)
        return hipErrorInvalidValue;
    const hipError_t error = hipDeviceGetAttribute(major, hipDeviceAttributeComputeCapabilityMajor, device);
    return error == hipSuccess
               ? hipDeviceGetAttribute(minor, hipDeviceAttributeComputeCapabilityMinor, device)
               : error;
}

/* The machine has one device. */
hipError_t hipChooseDevice(int *device, const hipDeviceProp_t *prop)
{
    if (device == NULL || prop == NULL)
        return hipErrorInvalidValue;
    *device = 0;
    return hipSuccess;
}

hipError_t hipDeviceGetLimit(size_t *pValue, enum hipLimit_t limit)
{
    HIP_READY();
    switch (limit) {
    case hipLimitPrintfFifoSize:
        return hip_result(cuCtxGetLimit(pValue, CU_LIMIT_PRINTF_FIFO_SIZE));
    case hipLimitMallocHeapSize:
        return hip_result(cuCtxGetLimit(pValue, CU_LIMIT_MALLOC_HEAP_SIZE));
    default:
        return pValue == NULL ? hipErrorInvalidValue : hipErrorUnsupportedLimit;
    }
}

hipError_t hipDriverGetVersion(int *driverVersion)
{
    if (driverVersion == NULL)
        return hipErrorInvalidValue;
    *driverVersion = HIP_VERSION;
    return hipSuccess;
}

hipError_t hipRuntimeGetVersion(int *runtimeVersion)
{
    return hipDriverGetVersion(runtimeVersion);
}
