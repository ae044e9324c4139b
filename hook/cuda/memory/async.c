/* Stream-ordered allocations come from the arena if their pool is the device's default pool or a plain
 * one. Pools with limits, or shared with other processes, stay with the driver. */
#include "cuda/memory/async.h"

#include <cuda.h>

#include "core/base/handle_map.h"
#include "core/driver/slots.h"
#include "core/probe/mailbox.h"
#include "core/region/region.h"
#include "core/ring/clock.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/stream.h"
#include "cuda/memory/arena.h"
#include "cuda/memory/events.h"
#include "cuda/memory/foreign.h"
#include "cuda/memory/pending.h"
#include "cuda/memory/serve.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static struct nb_handle_map plain_pools = NB_HANDLE_MAP_INITIALIZER;

static void forget(void)
{
    nb_handle_map_forget(&plain_pools);
}

const struct nb_component nb_memory_async_component = {.locks = {&plain_pools.lock}, .forget = forget};

void nb_post_pool_create(const struct nb_call *call, CUresult result, CUmemoryPool *pool,
                         const CUmemPoolProps *poolProps)
{
    static char is_plain;
    CUdevice device;
    (void)call;
    if (!nb_capture_enabled() || result != CUDA_SUCCESS || pool == NULL || poolProps == NULL ||
        !nb_memory_is_served(&device))
        return;
    const bool plain = poolProps->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                       poolProps->handleTypes == CU_MEM_HANDLE_TYPE_NONE &&
                       poolProps->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                       poolProps->location.id == device && poolProps->maxSize == 0;
    nb_handle_map_set(&plain_pools, nb_handle(*pool), plain ? &is_plain : NULL);
}

void nb_post_pool_destroy(const struct nb_call *call, CUresult result, CUmemoryPool pool)
{
    (void)call;
    if (nb_capture_enabled() && result == CUDA_SUCCESS)
        nb_handle_map_set(&plain_pools, nb_handle(pool), NULL);
}

void nb_post_pool_trim(const struct nb_call *call, CUresult result, CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)call, (void)pool, (void)minBytesToKeep;
    if (nb_capture_enabled() && result == CUDA_SUCCESS)
        nb_memory_reap(false);
}

static bool is_plain(CUmemoryPool pool, CUdevice device)
{
    CUmemoryPool standard = NULL;
    return nb_handle_map_get(&plain_pools, nb_handle(pool)) != NULL ||
           (NB_REAL(cuDeviceGetDefaultMemPool)(&standard, device) == CUDA_SUCCESS && pool == standard);
}

/* Can the arena serve the stream? Not while stream capture takes its work: that memory belongs to a graph.
 * If the driver refuses the query, let its own call report the error. */
static bool is_served(CUstream stream, CUdevice *device)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    int devices = 0;
    CUcontext current = NULL, of_stream = NULL;
    if (NB_REAL(cuStreamIsCapturing)(stream, &status) != CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_NONE || !nb_memory_is_served(device))
        return false;
    if (NB_REAL(cuDeviceGetCount)(&devices) == CUDA_SUCCESS && devices == 1)
        return true;
    return NB_REAL(cuStreamGetCtx)(stream, &of_stream) == CUDA_SUCCESS &&
           NB_REAL(cuCtxGetCurrent)(&current) == CUDA_SUCCESS && of_stream == current;
}

static CUresult serve_block(const struct nb_call *call, CUmemoryPool pool, CUstream stream, size_t bytes,
                            CUdeviceptr *address)
{
    struct nb_arena_block block = {.bytes = bytes, .slot = call->slot, .owner = nb_handle(pool), .pooled = 1};
    CUresult result = NB_REAL(cuMemAlloc_v2)(NULL, bytes); /* see ask() in memory.c */
    if (result != CUDA_ERROR_INVALID_VALUE && result != CUDA_SUCCESS)
        return result;
    result = CUDA_SUCCESS;
    if (!nb_memory_reuse(&block, nb_stream_query_number(stream))) {
        if (nb_memory_pending_bytes() > NB_MEMORY_PENDING_MAX)
            nb_memory_reap(false);
        result = nb_memory_serve(&block);
    }
    if (result == CUDA_SUCCESS)
        *address = block.address;
    return result;
}

static void note_driver_memory(CUresult result, const CUdeviceptr *dptr, size_t bytes, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (result != CUDA_SUCCESS || dptr == NULL)
        return;
    NB_REAL(cuStreamIsCapturing)(stream, &status);
    if (status == CU_STREAM_CAPTURE_STATUS_NONE)
        nb_foreign_add(*dptr, bytes, "memory of a pool with a size limit or exportable handles");
    else
        nb_foreign_add_of_graph(*dptr, bytes);
}

/* A free that stream capture takes is a node of a graph, and frees nothing now. */
static void note_driver_free(CUdeviceptr address, CUstream stream, uint64_t begun)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUcontext context = NULL;
    if (!nb_probing()) {
        nb_foreign_remove(address, begun);
        return;
    }
    NB_REAL(cuStreamIsCapturing)(stream, &status);
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
        return;
    NB_REAL(cuCtxGetCurrent)(&context);
    const struct nb_foreign_free free = {begun, nb_handle(context), nb_stream_query_number(stream)};
    nb_foreign_remove_later(address, &free);
}

CUresult nb_wrap_when_recording_alloc_async(const struct nb_call *call, nb_cuMemAllocAsync_t real,
                                            CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    const CUstream stream = nb_stream_resolve(call, hStream);
    CUdevice device;
    CUmemoryPool pool = NULL;
    if (dptr != NULL && bytesize != 0 && is_served(stream, &device) &&
        NB_REAL(cuDeviceGetMemPool)(&pool, device) == CUDA_SUCCESS && is_plain(pool, device))
        return serve_block(call, pool, stream, bytesize, dptr);
    const CUresult result = real(dptr, bytesize, hStream);
    note_driver_memory(result, dptr, bytesize, stream);
    return result;
}

CUresult nb_wrap_when_recording_alloc_from_pool(const struct nb_call *call, nb_cuMemAllocFromPoolAsync_t real,
                                                CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                                CUstream hStream)
{
    const CUstream stream = nb_stream_resolve(call, hStream);
    CUdevice device;
    if (dptr != NULL && bytesize != 0 && is_served(stream, &device) && is_plain(pool, device))
        return serve_block(call, pool, stream, bytesize, dptr);
    const CUresult result = real(dptr, bytesize, pool, hStream);
    note_driver_memory(result, dptr, bytesize, stream);
    return result;
}

CUresult nb_wrap_when_recording_free_async(const struct nb_call *call, nb_cuMemFreeAsync_t real,
                                           CUdeviceptr dptr, CUstream hStream)
{
    const CUstream stream = nb_stream_resolve(call, hStream);
    struct nb_arena_block block;
    CUdevice device;
    CUevent event;
    if (!nb_arena_contains(dptr) || !is_served(stream, &device)) {
        const uint64_t begun = nb_clock();
        const CUresult result = real(dptr, hStream);
        if (result == CUDA_SUCCESS)
            note_driver_free(dptr, stream, begun);
        return result;
    }
    if (!nb_arena_remove(dptr, NB_ARENA_MEMORY, &block))
        return real(NB_MEMORY_INVALID_POINTER, hStream);
    nb_memory_events()->block_ended(&block);
    CUresult result = NB_REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS) {
        nb_memory_defer(&block, NULL, 0);
        return result;
    }
    result = NB_REAL(cuEventRecord)(event, stream);
    if (result == CUDA_SUCCESS) {
        nb_memory_defer(&block, event, nb_stream_query_number(stream));
        return CUDA_SUCCESS;
    }
    NB_REAL(cuEventDestroy_v2)(event);
    nb_memory_defer(&block, NULL, 0);
    return result;
}
