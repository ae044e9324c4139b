/* cudaGetDeviceProperties: the driver's attributes in one struct; and the choice of a device by them. */
#include "runtime/cudart.h"

#include <string.h>

#define ROW(member, attribute)                                                                               \
    {offsetof(struct cudaDeviceProp, member), sizeof(((struct cudaDeviceProp *)0)->member),                  \
     CU_DEVICE_ATTRIBUTE_##attribute}

static const struct {
    size_t offset, bytes; /* of the member, an int or a size_t */
    CUdevice_attribute attribute;
} rows[] = {
    ROW(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK),
    ROW(regsPerBlock, MAX_REGISTERS_PER_BLOCK),
    ROW(warpSize, WARP_SIZE),
    ROW(memPitch, MAX_PITCH),
    ROW(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
    ROW(maxThreadsDim[0], MAX_BLOCK_DIM_X),
    ROW(maxThreadsDim[1], MAX_BLOCK_DIM_Y),
    ROW(maxThreadsDim[2], MAX_BLOCK_DIM_Z),
    ROW(maxGridSize[0], MAX_GRID_DIM_X),
    ROW(maxGridSize[1], MAX_GRID_DIM_Y),
    ROW(maxGridSize[2], MAX_GRID_DIM_Z),
    ROW(totalConstMem, TOTAL_CONSTANT_MEMORY),
    ROW(major, COMPUTE_CAPABILITY_MAJOR),
    ROW(minor, COMPUTE_CAPABILITY_MINOR),
    ROW(textureAlignment, TEXTURE_ALIGNMENT),
    ROW(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT),
    ROW(multiProcessorCount, MULTIPROCESSOR_COUNT),
    ROW(integrated, INTEGRATED),
    ROW(canMapHostMemory, CAN_MAP_HOST_MEMORY),
    ROW(maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH),
    ROW(maxTexture2D[0], MAXIMUM_TEXTURE2D_WIDTH),
    ROW(maxTexture2D[1], MAXIMUM_TEXTURE2D_HEIGHT),
    ROW(maxTexture3D[0], MAXIMUM_TEXTURE3D_WIDTH),
    ROW(maxTexture3D[1], MAXIMUM_TEXTURE3D_HEIGHT),
    ROW(maxTexture3D[2], MAXIMUM_TEXTURE3D_DEPTH),
    ROW(surfaceAlignment, SURFACE_ALIGNMENT),
    ROW(concurrentKernels, CONCURRENT_KERNELS),
    ROW(ECCEnabled, ECC_ENABLED),
    ROW(pciBusID, PCI_BUS_ID),
    ROW(pciDeviceID, PCI_DEVICE_ID),
    ROW(pciDomainID, PCI_DOMAIN_ID),
    ROW(asyncEngineCount, ASYNC_ENGINE_COUNT),
    ROW(unifiedAddressing, UNIFIED_ADDRESSING),
    ROW(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH),
    ROW(l2CacheSize, L2_CACHE_SIZE),
    ROW(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE),
    ROW(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR),
    ROW(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED),
    ROW(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED),
    ROW(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED),
    ROW(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    ROW(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR),
    ROW(managedMemory, MANAGED_MEMORY),
    ROW(isMultiGpuBoard, MULTI_GPU_BOARD),
    ROW(multiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID),
    ROW(hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED),
    ROW(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS),
    ROW(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS),
    ROW(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED),
    ROW(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
    ROW(cooperativeLaunch, COOPERATIVE_LAUNCH),
    ROW(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    ROW(pageableMemoryAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
    ROW(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
    ROW(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR),
    ROW(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE),
    ROW(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK),
    ROW(hostRegisterSupported, HOST_REGISTER_SUPPORTED),
    ROW(sparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED),
    ROW(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED),
    ROW(timelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED),
    ROW(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED),
    ROW(memoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES),
    ROW(deferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED),
    ROW(ipcEventSupported, IPC_EVENT_SUPPORTED),
    ROW(clusterLaunch, CLUSTER_LAUNCH),
    ROW(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS),
};

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    _Static_assert(sizeof prop->uuid == sizeof(CUuuid), "passed on unchanged");
    if (prop == NULL)
        return runtime_error(cudaErrorInvalidValue);
    CUresult result = DRIVER(cuInit)(0);
    *prop = (struct cudaDeviceProp){0};
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuDeviceGetName)(prop->name, sizeof prop->name, device);
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuDeviceGetUuid)((CUuuid *)(void *)&prop->uuid, device);
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuDeviceTotalMem)(&prop->totalGlobalMem, device);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && result == CUDA_SUCCESS; i++) {
        int value = 0;
        result = DRIVER(cuDeviceGetAttribute)(&value, rows[i].attribute, device);
        const size_t wide = (size_t)value;
        memcpy((char *)prop + rows[i].offset, rows[i].bytes == sizeof wide ? (const void *)&wide : &value,
               rows[i].bytes);
    }
    return runtime_result(result);
}

/* All devices are of one model, so the first one fits the wishes as well as any other. */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    if (device == NULL || prop == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const CUresult result = DRIVER(cuInit)(0);
    *device = 0;
    return runtime_result(result);
}
