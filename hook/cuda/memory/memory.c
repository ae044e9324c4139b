#include "cuda/memory/memory.h"

#include <cuda.h>

#include "core/arena/arena.h"
#include "core/driver/slots.h"
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

/* Call the driver without a place for its result: it first checks whether the call is allowed (context,
 * stream capture, an earlier fault), then its parameters. So it allocates nothing and reports its own
 * error. Checked on an H200 (tests/sim/observed/capture.txt, "MemAlloc_v2 N 64"). */
static CUresult probe(nb_cuMemAlloc_v2_t real, size_t bytes)
{
    const CUresult result = real(NULL, bytes);
    return result == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : result;
}

static CUresult serve_block(const struct nb_call *call, size_t bytes, CUdeviceptr *address)
{
    CUcontext context = NULL;
    NB_REAL(cuCtxGetCurrent)(&context);
    struct nb_arena_block block = {.bytes = bytes, .slot = call->slot, .owner = nb_handle(context)};
    CUresult result = probe(NB_REAL(cuMemAlloc_v2), bytes);
    if (result == CUDA_SUCCESS)
        result = nb_memory_serve(&block);
    if (result == CUDA_SUCCESS)
        *address = block.address;
    return result;
}

CUresult nb_wrap_when_recording_alloc(const struct nb_call *call, nb_cuMemAlloc_v2_t real, CUdeviceptr *dptr,
                                      size_t bytesize)
{
    CUdevice device;
    if (dptr != NULL && bytesize != 0 && nb_memory_is_served(&device))
        return serve_block(call, bytesize, dptr);
    const CUresult result = real(dptr, bytesize);
    if (result == CUDA_SUCCESS && dptr != NULL)
        nb_foreign_add(*dptr, bytesize, NB_FOREIGN_UNSERVED);
    return result;
}

/* Only the driver knows the pitch: let it allocate one row, and free that row below. */
CUresult nb_wrap_when_recording_alloc_pitch(const struct nb_call *call, nb_cuMemAllocPitch_v2_t real,
                                            CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                            size_t Height, unsigned int ElementSizeBytes)
{
    CUdevice device;
    const bool is_served = dptr != NULL && pPitch != NULL && Height != 0 && nb_memory_is_served(&device);
    CUresult result = real(dptr, pPitch, WidthInBytes, is_served ? 1 : Height, ElementSizeBytes);
    if (result != CUDA_SUCCESS || dptr == NULL || pPitch == NULL)
        return result;
    if (!is_served) {
        nb_foreign_add(*dptr, *pPitch * Height, NB_FOREIGN_UNSERVED);
        return result;
    }
    NB_REAL(cuMemFree_v2)(*dptr);
    return Height > SIZE_MAX / *pPitch ? CUDA_ERROR_OUT_OF_MEMORY : serve_block(call, *pPitch * Height, dptr);
}

/* A free waits for all queued work, as the driver's own does. Waiting for the context would invalidate a
 * stream capture. So once the process has used stream capture, freed memory is kept until it is needed or
 * a region begins. */
static CUresult free_block(const struct nb_arena_block *block)
{
    nb_memory_events()->block_ended(block);
    if (atomic_load_explicit(&nb_stream_capture_was_used, memory_order_relaxed)) {
        nb_memory_defer(block, NULL, 0);
        return CUDA_SUCCESS;
    }
    const CUresult result = NB_REAL(cuCtxSynchronize)();
    if (result != CUDA_SUCCESS) {
        nb_memory_defer(block, NULL, 0);
        return result;
    }
    nb_memory_give_back(block);
    if (nb_region_is_open())
        nb_memory_events()->waited();
    return CUDA_SUCCESS;
}

CUresult nb_wrap_when_recording_free(const struct nb_call *call, nb_cuMemFree_v2_t real, CUdeviceptr dptr)
{
    struct nb_arena_block block;
    (void)call;
    const uint64_t begun = nb_clock();
    const bool is_served = nb_arena_contains(dptr);
    const CUresult result = real(is_served ? NB_MEMORY_INVALID_POINTER : dptr);
    if (!is_served) {
        if (result == CUDA_SUCCESS)
            nb_foreign_remove(dptr, begun);
        return result;
    }
    if (result != CUDA_ERROR_INVALID_VALUE || !nb_arena_remove(dptr, NB_ARENA_MEMORY, &block))
        return result;
    return free_block(&block);
}

struct context_search {
    uint64_t context, address;
};

static void find_one(const struct nb_arena_block *block, void *context)
{
    struct context_search *search = context;
    if (block->kind == NB_ARENA_MEMORY && !block->pooled && block->owner == search->context)
        search->address = block->address;
}

void nb_memory_forget_context(uint64_t context)
{
    struct context_search search = {.context = context};
    struct nb_arena_block block;
    do {
        search.address = 0;
        nb_arena_each(find_one, &search);
        if (search.address != 0 && nb_arena_remove(search.address, NB_ARENA_MEMORY, &block)) {
            nb_memory_events()->block_ended(&block);
            nb_memory_give_back(&block);
        }
    } while (search.address != 0);
}
