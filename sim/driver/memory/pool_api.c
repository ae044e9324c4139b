/* cuMemPoolCreate, and allocations in stream order. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/graph/memory.h"
#include "driver/memory/memory.h"
#include "driver/memory/pool.h"
#include "driver/stream/stream.h"

enum { ALLOCATION_MANAGED = 2 }; /* CU_MEM_ALLOCATION_TYPE_MANAGED; headers before 13.0 lack it */

static enum sim_memory kind_of(const CUmemPoolProps *properties)
{
    return (int)properties->allocType == ALLOCATION_MANAGED              ? SIM_MEMORY_MANAGED
           : (int)properties->location.type == CU_MEM_LOCATION_TYPE_HOST ? SIM_MEMORY_HOST
                                                                         : SIM_MEMORY_DEVICE;
}

/* Pools can be of device memory, of host memory, or (since 13.0) of managed memory. */
static CUresult check_properties(const CUmemPoolProps *properties)
{
    const unsigned kinds = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                           CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
    const unsigned wanted = (unsigned)properties->handleTypes;
    if ((wanted & ~kinds) != 0 || properties->win32SecurityAttributes != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const bool managed = (int)properties->allocType == ALLOCATION_MANAGED;
    if (managed && wanted != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (managed && (int)properties->location.type == CU_MEM_LOCATION_TYPE_INVALID)
        return CUDA_SUCCESS;
    if (!managed && properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    switch ((int)properties->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (properties->location.id != SIM_DEVICE)
            return CUDA_ERROR_INVALID_DEVICE;
        break;
    case CU_MEM_LOCATION_TYPE_HOST:
        return wanted != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return (wanted & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0 ? CUDA_ERROR_NOT_SUPPORTED
                                                                               : CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    CUresult result = sim_pool_check(SIM_DEVICE, pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (poolProps == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_properties(poolProps);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *made = sim_pool_make(poolProps->maxSize, kind_of(poolProps),
                                          poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE);
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    const CUresult result = sim_pool_check(SIM_DEVICE, pool);
    return result == CUDA_SUCCESS ? sim_pool_destroy(pool) : result;
}

static CUresult allocate(CUdeviceptr *dptr, size_t bytes, CUmemoryPool handle, CUstream hStream,
                         bool per_thread)
{
    struct sim_context *context;
    struct sim_stream *stream;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result == CUDA_SUCCESS && !sim_stream_is_capturing(stream))
        result = sim_capture_check_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle == NULL)
        result = sim_pool_of_device(SIM_MEMORY_DEVICE, true, &handle);
    struct sim_pool *pool = sim_pool_find(handle);
    if (result != CUDA_SUCCESS || pool == NULL || pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_stream_is_capturing(stream))
        return sim_graph_memory_capture(stream, bytes, dptr);
    if (bytes == 0) {
        *dptr = 0;
        return CUDA_SUCCESS;
    }
    const uint64_t address = sim_pool_take(pool, bytes);
    if (address == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *dptr = address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate(dptr, bytesize, NULL, hStream, false);
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate(dptr, bytesize, NULL, hStream, true);
}

static CUresult allocate_from(CUdeviceptr *dptr, size_t bytes, CUmemoryPool pool, CUstream stream,
                              bool per_thread)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS && pool == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? allocate(dptr, bytes, pool, stream, per_thread) : result;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    return allocate_from(dptr, bytesize, pool, hStream, false);
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    return allocate_from(dptr, bytesize, pool, hStream, true);
}

static void run_free(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                     struct sim_work *work)
{
    (void)context, (void)stream, (void)number;
    (void)sim_memory_free(work->freed, SIM_MEMORY_FREEABLE | 1u << SIM_MEMORY_HOST);
}

const struct sim_work_class sim_free_work = {.runs_after_fault = true, .run = run_free};

static CUresult free_in_stream_order(CUdeviceptr dptr, CUstream hStream, bool per_thread)
{
    struct sim_context *context;
    struct sim_stream *stream;
    struct sim_range range;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS || dptr == 0)
        return result;
    if (sim_graph_memory_free(dptr, stream, &result))
        return result;
    if (!sim_range_find(dptr, &range) || range.begin != dptr ||
        (range.kind != SIM_MEMORY_DEVICE && range.pool == NULL) ||
        sim_stream_is_capturing(stream)) /* a graph frees only memory that a graph allocated */
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_work work = {.kind = SIM_WORK_FREE, .freed = dptr};
    return sim_stream_submit(stream, &work, NULL);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    return free_in_stream_order(dptr, hStream, false);
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream)
{
    return free_in_stream_order(dptr, hStream, true);
}
