/* malloc and free inside kernels: memory of the context's malloc heap. */
#include "driver/memory/kernel_heap.h"

#include "driver/context/context.h"
#include "driver/memory/memory.h"
#include "driver/memory/range.h"

/* A GPU carves allocations out of a preallocated heap. Here each is an allocation of the driver, and the
 * limit applies to their sum. */
uint64_t sim_kernel_heap_allocate(void *data, size_t bytes)
{
    struct sim_context *context = data;
    const size_t most = atomic_load(&context->limits[CU_LIMIT_MALLOC_HEAP_SIZE]);
    if (bytes > most || atomic_fetch_add(&context->kernel_heap_used, bytes) > most - bytes) {
        if (bytes <= most)
            atomic_fetch_sub(&context->kernel_heap_used, bytes);
        return 0;
    }
    const uint64_t address = sim_memory_allocate(SIM_MEMORY_KERNEL, bytes, 0, context);
    if (address == 0)
        atomic_fetch_sub(&context->kernel_heap_used, bytes);
    return address;
}

void sim_kernel_heap_release(void *data, uint64_t address)
{
    struct sim_context *context = data;
    struct sim_range range;
    if (sim_range_find(address, &range) && range.begin == address &&
        sim_memory_free(address, 1u << SIM_MEMORY_KERNEL))
        atomic_fetch_sub(&context->kernel_heap_used, range.end - range.begin);
}
