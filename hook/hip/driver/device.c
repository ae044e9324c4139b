/* Devices and errors. */
#include "hip/driver/hip.h"

#include <string.h>

/* hipDeviceAttribute_t as numbered since 5.0. Attributes of newer headers are left out. AMD devices give a
 * block all of its shared memory without opting in. */
static const struct {
    CUdevice_attribute of_cuda;
    hipDeviceAttribute_t of_hip;
} attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, hipDeviceAttributeMaxThreadsPerBlock},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, hipDeviceAttributeMaxBlockDimX},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, hipDeviceAttributeMaxBlockDimY},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, hipDeviceAttributeMaxBlockDimZ},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, hipDeviceAttributeMaxGridDimX},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, hipDeviceAttributeMaxGridDimY},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, hipDeviceAttributeMaxGridDimZ},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, hipDeviceAttributeMaxSharedMemoryPerBlock},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, hipDeviceAttributeMaxSharedMemoryPerBlock},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
     hipDeviceAttributeMaxSharedMemoryPerMultiprocessor},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, hipDeviceAttributeTotalConstantMemory},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, hipDeviceAttributeWarpSize},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, hipDeviceAttributeMaxPitch},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, hipDeviceAttributeMaxRegistersPerBlock},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, hipDeviceAttributeMaxRegistersPerMultiprocessor},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, hipDeviceAttributeClockRate},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, hipDeviceAttributeTextureAlignment},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, hipDeviceAttributeMultiprocessorCount},
    {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, hipDeviceAttributeKernelExecTimeout},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, hipDeviceAttributeIntegrated},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, hipDeviceAttributeCanMapHostMemory},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, hipDeviceAttributeComputeMode},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, hipDeviceAttributeConcurrentKernels},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, hipDeviceAttributeEccEnabled},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, hipDeviceAttributePciBusId},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, hipDeviceAttributePciDeviceId},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, hipDeviceAttributePciDomainID},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, hipDeviceAttributeMemoryClockRate},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, hipDeviceAttributeMemoryBusWidth},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, hipDeviceAttributeL2CacheSize},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, hipDeviceAttributeMaxThreadsPerMultiProcessor},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, hipDeviceAttributeComputeCapabilityMajor},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, hipDeviceAttributeComputeCapabilityMinor},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, hipDeviceAttributeManagedMemory},
    {CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, hipDeviceAttributeIsMultiGpuBoard},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, hipDeviceAttributePageableMemoryAccess},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, hipDeviceAttributeConcurrentManagedAccess},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, hipDeviceAttributeCooperativeLaunch},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
     hipDeviceAttributePageableMemoryAccessUsesHostPageTables},
    {CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST,
     hipDeviceAttributeDirectManagedMemAccessFromHost},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, hipDeviceAttributeMemoryPoolsSupported},
};

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].of_cuda == attrib)
            return nb_hip_result(HIP(hipDeviceGetAttribute)(pi, attributes[i].of_hip, dev));
    return CUDA_ERROR_INVALID_VALUE;
}

/* Both vendors use one name for the error numbers that they share. */
CUresult cuGetErrorName(CUresult error, const char **pStr)
{
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = HIP(hipGetErrorName)((hipError_t)error);
    return *pStr != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **pStr)
{
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = HIP(hipGetErrorString)((hipError_t)error);
    return *pStr != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
