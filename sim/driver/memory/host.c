/* Page-locked host memory. For a CPU it is ordinary memory, but copies with it are asynchronous and kernels
 * may access it. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/memory/host_pages.h"
#include "driver/memory/memory.h"
#include "driver/stream/stream.h"

#include <sys/mman.h>

static CUresult allocate(void **pp, size_t bytes, unsigned flags)
{
    struct sim_context *context;
    const CUresult result = sim_enter_unsafe(&context);
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (result != CUDA_SUCCESS)
        return result;
    if (pp == NULL || bytes == 0 || (flags & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const uint64_t address = (uint64_t)(uintptr_t)memory;
    const struct sim_range range = {.begin = address,
                                    .end = address + bytes,
                                    .kind = SIM_MEMORY_HOST,
                                    .access = SIM_ACCESS_READ_WRITE,
                                    .flags = flags | CU_MEMHOSTALLOC_DEVICEMAP,
                                    .context = context};
    if (!sim_range_add(&range)) {
        munmap(memory, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pp = memory;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return allocate(pp, bytesize, Flags);
}

CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return allocate(pp, bytesize, 0);
}

CUresult cuMemFreeHost(void *p)
{
    struct sim_context *context;
    struct sim_range range;
    CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS || p == NULL)
        return result;
    result = sim_context_synchronize(context);
    if (!sim_range_find((uint64_t)(uintptr_t)p, &range) ||
        range.pool != NULL || /* pool memory is returned to its pool */
        !sim_range_remove((uint64_t)(uintptr_t)p, 1u << SIM_MEMORY_HOST, &range))
        return CUDA_ERROR_INVALID_VALUE;
    munmap(p, range.end - range.begin);
    return result;
}

static CUresult register_memory(void *p, size_t bytes, unsigned flags)
{
    struct sim_context *context;
    struct sim_range range;
    const CUresult result = sim_enter_unsafe(&context);
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_READ_ONLY | CU_MEMHOSTREGISTER_IOMEMORY;
    if (result != CUDA_SUCCESS)
        return result;
    const uint64_t begin = (uint64_t)(uintptr_t)p;
    const bool read_only = (flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0;
    if (p == NULL || bytes == 0 || begin + bytes < begin || (flags & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (sim_range_find(begin, &range))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    /* "this flag is required in order to register memory mapped to the CPU as read-only" (cuda.h) */
    bool writable;
    if (!sim_host_pages_readable(begin, begin + bytes, &writable) || (!writable && !read_only))
        return CUDA_ERROR_INVALID_VALUE;
    range = (struct sim_range){.begin = begin,
                               .end = begin + bytes,
                               .kind = SIM_MEMORY_REGISTERED,
                               .access = read_only ? SIM_ACCESS_READ : SIM_ACCESS_READ_WRITE,
                               .flags = flags | CU_MEMHOSTREGISTER_DEVICEMAP,
                               .context = context};
    return sim_range_add(&range) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    return register_memory(p, bytesize, Flags);
}

CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    return register_memory(p, bytesize, Flags);
}

CUresult cuMemHostUnregister(void *p)
{
    struct sim_context *context;
    struct sim_range range;
    CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = sim_context_synchronize(context);
    if (!sim_range_remove((uint64_t)(uintptr_t)p, 1u << SIM_MEMORY_REGISTERED, &range))
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return result;
}

static CUresult find_host(const void *p, unsigned kinds, const void *out, struct sim_range *range)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL || !sim_range_find((uint64_t)(uintptr_t)p, range) || (kinds >> range->kind & 1u) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct sim_range range;
    const CUresult result = find_host(p, 1u << SIM_MEMORY_HOST | 1u << SIM_MEMORY_REGISTERED, pdptr, &range);
    if (result != CUDA_SUCCESS)
        return result;
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

/* "will fail if the pointer does not reside in an allocation performed by cuMemAllocHost() or
 * cuMemHostAlloc()" (cuda.h). */
CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    struct sim_range range;
    const CUresult result = find_host(p, 1u << SIM_MEMORY_HOST, pFlags, &range);
    if (result == CUDA_SUCCESS)
        *pFlags = range.flags;
    return result;
}
