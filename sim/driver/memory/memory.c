#include "driver/memory/memory.h"

#include "driver/memory/array.h"
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/memory/extents.h"
#include "driver/graph/memory.h"
#include "driver/memory/heap.h"
#include "driver/memory/pool.h"
#include "driver/memory/residency.h"
#include "driver/memory/texture.h"

#include <sys/mman.h>

#define FREEABLE (1u << SIM_MEMORY_DEVICE | 1u << SIM_MEMORY_MANAGED)

bool sim_memory_start(void)
{
    return sim_heap_start(sim_device_memory());
}

uint64_t sim_memory_allocate(enum sim_memory kind, size_t bytes, unsigned flags, struct sim_context *context,
                             struct sim_pool *pool)
{
    const uint64_t address = sim_heap_allocate(bytes);
    const struct sim_range range = {.begin = address,
                                    .end = address + bytes,
                                    .kind = kind,
                                    .access = SIM_ACCESS_READ_WRITE,
                                    .flags = flags,
                                    .context = context == NULL ? NULL : sim_context_root(context),
                                    .pool = pool};
    if (address != 0 && !sim_range_add(&range)) {
        sim_heap_free(address, bytes);
        return 0;
    }
    return address;
}

static void give_back(const struct sim_range *range)
{
    if (range->kind == SIM_MEMORY_MANAGED)
        sim_residency_forget(range->begin, range->end);
    if (range->pool != NULL)
        sim_pool_gave_back(range->pool, range);
    else
        sim_heap_free(range->begin, range->end - range->begin);
}

bool sim_memory_free(uint64_t address, unsigned kinds)
{
    struct sim_range range;
    if (!sim_range_remove(address, kinds, &range))
        return false;
    give_back(&range);
    return true;
}

void sim_memory_free_context(struct sim_context *context)
{
    struct sim_range range;
    sim_texture_free_context(context);
    sim_array_free_context(context);
    while (sim_range_remove_any(context, FREEABLE | 1u << SIM_MEMORY_KERNEL, &range))
        give_back(&range);
    while (sim_range_remove_any(context, 1u << SIM_MEMORY_HOST, &range))
        munmap((void *)(uintptr_t)range.begin, range.end - range.begin);
    while (sim_range_remove_any(context, 1u << SIM_MEMORY_REGISTERED, &range))
        ; /* the pages are the program's */
    sim_graph_memory_free_context(context);
}

bool sim_memory_find(void *unused, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable)
{
    struct sim_range range;
    (void)unused;
    if (!sim_range_find(address, &range) || range.access == SIM_ACCESS_NONE)
        return false;
    *writable = range.access == SIM_ACCESS_READ_WRITE;
    *begin = range.begin;
    *end = range.end;
    return true;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (free != NULL)
        *free = sim_heap_available();
    if (total != NULL)
        *total = sim_device_memory();
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    struct sim_context *context;
    const CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL || bytesize == 0)
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t address = sim_memory_allocate(SIM_MEMORY_DEVICE, bytesize, 0, context, NULL);
    if (address == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *dptr = address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    struct sim_context *context;
    const CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL || bytesize == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t address = sim_memory_allocate(SIM_MEMORY_MANAGED, bytesize, flags, context, NULL);
    if (address == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *dptr = address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes)
{
    struct sim_context *context;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL || pPitch == NULL || WidthInBytes == 0 || Height == 0 || WidthInBytes > 0x7fffffff ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    const size_t pitch = (WidthInBytes + SIM_ALIGNMENT - 1) & ~(size_t)(SIM_ALIGNMENT - 1);
    if (Height > SIZE_MAX / pitch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = cuMemAlloc_v2(dptr, pitch * Height);
    if (result == CUDA_SUCCESS)
        *pPitch = pitch;
    return result;
}

/* Waits for the context's work first, as a GPU's driver does, so that nothing running loses its memory. */
CUresult cuMemFree_v2(CUdeviceptr dptr)
{
    struct sim_context *context;
    CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS || dptr == 0)
        return result;
    result = sim_context_synchronize(context);
    if (sim_graph_memory_free(dptr, NULL, &result))
        return result;
    if (!sim_memory_free(dptr, FREEABLE))
        return CUDA_ERROR_INVALID_VALUE;
    return result;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct sim_context *context;
    struct sim_range range;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_range_find(dptr, &range))
        return CUDA_ERROR_NOT_FOUND;
    if (pbase != NULL)
        *pbase = range.begin;
    if (psize != NULL)
        *psize = range.end - range.begin;
    return CUDA_SUCCESS;
}
