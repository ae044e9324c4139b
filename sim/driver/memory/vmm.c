/* Reserved addresses and mappings. One piece of physical memory can be mapped at several addresses, and an
 * address can be remapped to other memory. */
#include "driver/memory/vmm.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/device/device.h"
#include "driver/memory/memory.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <sys/mman.h>

struct reservation {
    struct reservation *next;
    uint64_t begin, end;
};

static struct reservation *reservations;
pthread_mutex_t sim_vmm_lock = PTHREAD_MUTEX_INITIALIZER;

/* Reserve inaccessible, aligned pages at the hint, or anywhere. */
static uint64_t reserve_pages(size_t size, size_t alignment, uint64_t hint)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (hint != 0 && hint % alignment == 0) {
        void *there = mmap((void *)(uintptr_t)hint, size, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
        if (there == (void *)(uintptr_t)hint)
            return hint;
        if (there != MAP_FAILED)
            munmap(there, size); /* a kernel before 4.17 ignores MAP_FIXED_NOREPLACE */
    }
    void *any = mmap(NULL, size + alignment, PROT_NONE, flags, -1, 0);
    if (any == MAP_FAILED)
        return 0;
    const uint64_t first = (uint64_t)(uintptr_t)any;
    const uint64_t begin = (first + alignment - 1) / alignment * alignment;
    if (begin > first)
        munmap(any, begin - first);
    if (first + alignment > begin)
        munmap((void *)(uintptr_t)(begin + size), first + alignment - begin);
    return begin;
}

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (ptr == NULL || size == 0 || !sim_is_granular(size) || flags != 0 ||
        (alignment & (alignment - 1)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct reservation *made = malloc(sizeof(*made));
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->begin = reserve_pages(size, alignment < SIM_GRANULARITY ? SIM_GRANULARITY : alignment, addr);
    made->end = made->begin + size;
    if (made->begin == 0) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&sim_vmm_lock);
    made->next = reservations;
    reservations = made;
    pthread_mutex_unlock(&sim_vmm_lock);
    *ptr = made->begin;
    return CUDA_SUCCESS;
}

bool sim_vmm_find_reservation(uint64_t address, uint64_t *begin, uint64_t *end)
{
    pthread_mutex_lock(&sim_vmm_lock);
    const struct reservation *at = reservations;
    while (at != NULL && (address < at->begin || address >= at->end))
        at = at->next;
    if (at != NULL) {
        *begin = at->begin;
        *end = at->end;
    }
    pthread_mutex_unlock(&sim_vmm_lock);
    return at != NULL;
}

static bool is_mapped(uint64_t begin, uint64_t end)
{
    struct sim_range range;
    for (uint64_t address = begin; address < end; address += SIM_GRANULARITY)
        if (sim_range_find(address, &range))
            return true;
    return false;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&sim_vmm_lock);
    struct reservation **link = &reservations;
    while (*link != NULL && ((*link)->begin != ptr || (*link)->end != ptr + size))
        link = &(*link)->next;
    struct reservation *found = *link;
    if (found == NULL || is_mapped(ptr, ptr + size)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        *link = found->next;
        munmap((void *)(uintptr_t)ptr, size);
        free(found);
    }
    pthread_mutex_unlock(&sim_vmm_lock);
    return result;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_physical *physical = sim_physical_find(handle);
    if (physical == NULL || size == 0 || !sim_is_granular(size) || !sim_is_granular(ptr) || flags != 0 ||
        !sim_is_granular(offset) || offset > physical->bytes || size > physical->bytes - offset)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_vmm_lock);
    const struct reservation *inside = reservations;
    while (inside != NULL && (ptr < inside->begin || ptr >= inside->end || size > inside->end - ptr))
        inside = inside->next;
    const struct sim_range range = {
        .begin = ptr, .end = ptr + size, .kind = SIM_MEMORY_MAPPED, .physical = physical};
    if (inside == NULL || !sim_range_add(&range)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (mmap((void *)(uintptr_t)ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->descriptor,
                    (off_t)offset) == MAP_FAILED) {
        struct sim_range taken;
        (void)sim_range_remove(ptr, 1u << SIM_MEMORY_MAPPED, &taken);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        sim_object_retain(physical);
    }
    pthread_mutex_unlock(&sim_vmm_lock);
    return result;
}

/* Whether [begin, end) consists of whole, adjacent mappings. */
static bool covers_mappings(uint64_t begin, uint64_t end)
{
    struct sim_range range;
    while (begin < end) {
        if (!sim_range_find(begin, &range) || range.begin != begin || range.end > end ||
            range.kind != SIM_MEMORY_MAPPED)
            return false;
        begin = range.end;
    }
    return true;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = sim_context_current();
    if (context != NULL)
        (void)sim_context_synchronize(context); /* running kernels keep their memory */
    pthread_mutex_lock(&sim_vmm_lock);
    if (size == 0 || ptr + size < ptr || !covers_mappings(ptr, ptr + size))
        result = CUDA_ERROR_INVALID_VALUE;
    for (uint64_t address = ptr; result == CUDA_SUCCESS && address < ptr + size;) {
        struct sim_range range;
        if (!sim_range_remove(address, 1u << SIM_MEMORY_MAPPED, &range))
            break;
        address = range.end;
        sim_object_release(range.physical);
    }
    if (result == CUDA_SUCCESS &&
        mmap((void *)(uintptr_t)ptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        result = CUDA_ERROR_OPERATING_SYSTEM;
    pthread_mutex_unlock(&sim_vmm_lock);
    return result;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (desc == NULL || count == 0 || size == 0 || !sim_is_granular(ptr) || !sim_is_granular(size) ||
        ptr + size < ptr)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            (desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
             desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
             desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
            return CUDA_ERROR_INVALID_VALUE;
        if (desc[i].location.id != SIM_DEVICE)
            return CUDA_ERROR_INVALID_DEVICE;
    }
    const enum sim_access access = (enum sim_access)desc[count - 1].flags;
    /* Pages of a read-only mapping stay writable for the process: a running kernel may have checked its
     * access before, and must not crash the process. */
    const int protection = access == SIM_ACCESS_NONE ? PROT_NONE : PROT_READ | PROT_WRITE;
    pthread_mutex_lock(&sim_vmm_lock);
    if (!sim_range_set_access(ptr, ptr + size, access) ||
        mprotect((void *)(uintptr_t)ptr, size, protection) != 0)
        result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&sim_vmm_lock);
    return result;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    struct sim_range range;
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (flags == NULL || location == NULL || !sim_range_find(ptr, &range) || range.kind != SIM_MEMORY_MAPPED)
        return CUDA_ERROR_INVALID_VALUE;
    const bool here = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (here && location->id != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    *flags = here ? (unsigned long long)range.access : 0;
    return CUDA_SUCCESS;
}
