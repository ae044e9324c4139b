/* Pool functions that store an address, which is a number in CUDA's driver. */
#include "hip/hip.h"

_Static_assert(sizeof(hipMemPoolProps) == sizeof(CUmemPoolProps) &&
                   offsetof(hipMemPoolProps, location) == offsetof(CUmemPoolProps, location) &&
                   sizeof(hipMemAccessDesc) == sizeof(CUmemAccessDesc) &&
                   sizeof(hipMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData) &&
                   (int)hipMemAllocationTypePinned == (int)CU_MEM_ALLOCATION_TYPE_PINNED &&
                   (int)hipMemLocationTypeDevice == (int)CU_MEM_LOCATION_TYPE_DEVICE &&
                   (int)hipMemAccessFlagsProtReadWrite == (int)CU_MEM_ACCESS_FLAGS_PROT_READWRITE &&
                   (int)hipMemHandleTypePosixFileDescriptor ==
                       (int)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
                   (int)hipMemPoolAttrUsedMemHigh == (int)CU_MEMPOOL_ATTR_USED_MEM_HIGH,
               "handed on as they are");

hipError_t hipMemPoolImportPointer(void **dev_ptr, hipMemPool_t mem_pool,
                                   hipMemPoolPtrExportData *export_data)
{
    CUdeviceptr at = 0;
    HIP_READY();
    if (dev_ptr == NULL)
        return hipErrorInvalidValue;
    const CUresult result =
        cuMemPoolImportPointer(&at, (CUmemoryPool)mem_pool, (CUmemPoolPtrExportData *)(void *)export_data);
    if (result == CUDA_SUCCESS)
        *dev_ptr = (void *)(uintptr_t)at;
    return hip_result(result);
}

hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData *export_data, void *dev_ptr)
{
    HIP_READY();
    return hip_result(
        cuMemPoolExportPointer((CUmemPoolPtrExportData *)(void *)export_data, hip_address(dev_ptr)));
}

hipError_t hipMemPoolExportToShareableHandle(void *shared_handle, hipMemPool_t mem_pool,
                                             hipMemAllocationHandleType handle_type, unsigned int flags)
{
    HIP_READY();
    return hip_result(cuMemPoolExportToShareableHandle(shared_handle, (CUmemoryPool)mem_pool,
                                                       (CUmemAllocationHandleType)handle_type, flags));
}

hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t *mem_pool, void *shared_handle,
                                               hipMemAllocationHandleType handle_type, unsigned int flags)
{
    HIP_READY();
    return hip_result(cuMemPoolImportFromShareableHandle((CUmemoryPool *)mem_pool, shared_handle,
                                                         (CUmemAllocationHandleType)handle_type, flags));
}
