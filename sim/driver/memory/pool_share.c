/* Sharing pools and their allocations between processes. */
#include "driver/memory/memory.h"
#include "driver/memory/pool.h"
#include "driver/memory/shareable.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x6e6575742e6d656dull

/* The contents of CUmemPoolPtrExportData: the file and the range in it. Comes from another process, so it is
 * checked. */
struct pointer_data {
    uint64_t magic;
    uint64_t device, inode; /* of the memfd; the same in every process */
    uint64_t offset, bytes;
};

_Static_assert(sizeof(struct pointer_data) <= sizeof(CUmemPoolPtrExportData), "fits its carrier");

static CUresult check_handle_type(CUmemAllocationHandleType type)
{
    switch ((int)type) {
    case CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
        return CUDA_SUCCESS;
    case CU_MEM_HANDLE_TYPE_WIN32:
    case CU_MEM_HANDLE_TYPE_WIN32_KMT:
    case CU_MEM_HANDLE_TYPE_FABRIC:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                          CUmemAllocationHandleType handleType, unsigned long long flags)
{
    CUresult result = sim_pool_check(0, handle_out);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_pool *self = sim_pool_find(pool);
    if (self == NULL || flags != 0 || self->imported || self->descriptor < 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_handle_type(handleType);
    if (result != CUDA_SUCCESS)
        return result;
    const int descriptor = dup(self->descriptor);
    if (descriptor < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *(int *)handle_out = descriptor;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                            CUmemAllocationHandleType handleType, unsigned long long flags)
{
    size_t bytes;
    CUresult result = sim_pool_check(0, pool_out);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_handle_type(handleType);
    if (result != CUDA_SUCCESS)
        return result;
    const int descriptor = sim_shareable_open((int)(intptr_t)handle, SIM_SHAREABLE_POOL, &bytes);
    if (descriptor < 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_pool *pool = sim_pool_make_imported(descriptor, bytes);
    if (pool == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pool_out = (CUmemoryPool)pool;
    return CUDA_SUCCESS;
}

static bool identify(const struct sim_pool *pool, struct pointer_data *data)
{
    struct stat status;
    if (pool->descriptor < 0 || fstat(pool->descriptor, &status) != 0)
        return false;
    data->magic = MAGIC;
    data->device = status.st_dev;
    data->inode = status.st_ino;
    return true;
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
    struct sim_range range;
    struct pointer_data data;
    const CUresult result = sim_pool_check(0, shareData_out);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_range_find(ptr, &range) || range.begin != ptr || range.pool == NULL || range.pool->imported ||
        !identify(range.pool, &data))
        return CUDA_ERROR_INVALID_VALUE;
    data.offset = range.begin - range.pool->base;
    data.bytes = range.end - range.begin;
    memset(shareData_out, 0, sizeof *shareData_out);
    memcpy(shareData_out, &data, sizeof data);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData)
{
    struct pointer_data data;
    struct pointer_data wanted;
    const CUresult result = sim_pool_check(0, ptr_out);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *self = sim_pool_find(pool);
    if (self == NULL || !self->imported || shareData == NULL || !identify(self, &wanted))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&data, shareData, sizeof data);
    if (data.magic != MAGIC || data.device != wanted.device || data.inode != wanted.inode ||
        data.bytes == 0 || data.offset > self->bytes || data.bytes > self->bytes - data.offset)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_range range = {.begin = self->base + data.offset,
                                    .end = self->base + data.offset + data.bytes,
                                    .kind = SIM_MEMORY_DEVICE,
                                    .access = SIM_ACCESS_READ_WRITE,
                                    .pool = self};
    sim_object_retain(self);
    if (!sim_range_add(&range)) { /* imported before */
        sim_object_release(self);
        return CUDA_ERROR_INVALID_VALUE;
    }
    *ptr_out = range.begin;
    return CUDA_SUCCESS;
}
