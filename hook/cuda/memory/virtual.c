#include "cuda/memory/virtual.h"

#include <cuda.h>

#include <pthread.h>

#include "core/arena/arena.h"
#include "core/base/ranges.h"
#include "core/driver/slots.h"
#include "core/ring/clock.h"
#include "cuda/memory/arena.h"
#include "cuda/memory/events.h"
#include "cuda/memory/foreign.h"
#include "real.h"
#include "special.h"
#include "surface.h"

struct reservation {
    uint64_t address;
    uint64_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nb_ranges reservations = NB_RANGES_INITIALIZER(struct reservation);

bool nb_memory_find_reservation(uint64_t address, uint64_t bytes, uint64_t *begin, uint64_t *reserved_bytes)
{
    pthread_mutex_lock(&lock);
    const struct reservation *known_reservation = nb_ranges_find(&reservations, address);
    const bool is_inside = known_reservation != NULL &&
                           bytes <= known_reservation->bytes - (address - known_reservation->address);
    if (is_inside) {
        *begin = known_reservation->address;
        *reserved_bytes = known_reservation->bytes;
    }
    pthread_mutex_unlock(&lock);
    return is_inside;
}

static bool add_reservation(uint64_t address, uint64_t bytes)
{
    const struct reservation item = {address, bytes};
    pthread_mutex_lock(&lock);
    const bool added = nb_ranges_add(&reservations, &item);
    pthread_mutex_unlock(&lock);
    return added;
}

/* A hint is not binding: if its addresses are taken, choose others, as the driver does. A hint outside the
 * arena goes to the driver, and so does every invalid call. */
CUresult nb_wrap_when_recording_address_reserve(const struct nb_call *call, nb_cuMemAddressReserve_t real,
                                                CUdeviceptr *ptr, size_t size, size_t alignment,
                                                CUdeviceptr addr, unsigned long long flags)
{
    CUdevice device;
    (void)call;
    if (ptr == NULL || size == 0 || size % NB_ARENA_GRANULE != 0 || (alignment & (alignment - 1)) != 0 ||
        flags != 0 || !nb_memory_is_served(&device) || (addr != 0 && !nb_arena_contains(addr)))
        return real(ptr, size, alignment, addr, flags);
    uint64_t address = addr != 0 ? nb_arena_reserve(size, alignment, addr) : 0;
    if (address == 0)
        address = nb_arena_reserve(size, alignment, 0);
    if (address == 0)
        return real(ptr, size, alignment, 0, flags);
    if (!add_reservation(address, size)) {
        nb_arena_release(address, size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *ptr = address;
    return CUDA_SUCCESS;
}

struct search {
    uint64_t begin, bytes;
    bool is_found;
};

static void visit_mapping(const struct nb_arena_block *block, void *context)
{
    struct search *search = context;
    search->is_found |= block->address - search->begin < search->bytes;
}

static bool is_mapped(uint64_t begin, uint64_t bytes)
{
    struct search search = {begin, bytes, false};
    nb_arena_each(visit_mapping, &search);
    for (uint64_t at = 0; !search.is_found && at < bytes; at += NB_ARENA_GRANULE)
        search.is_found = nb_foreign_find(begin + at) != NULL;
    return search.is_found;
}

CUresult nb_wrap_when_recording_address_free(const struct nb_call *call, nb_cuMemAddressFree_t real,
                                             CUdeviceptr ptr, size_t size)
{
    (void)call;
    if (!nb_arena_contains(ptr))
        return real(ptr, size);
    if (is_mapped(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct reservation *known_reservation = nb_ranges_find(&reservations, ptr);
    const bool is_exact =
        known_reservation != NULL && known_reservation->address == ptr && known_reservation->bytes == size;
    if (is_exact)
        nb_ranges_remove(&reservations, known_reservation);
    pthread_mutex_unlock(&lock);
    if (!is_exact)
        return CUDA_ERROR_INVALID_VALUE;
    nb_arena_release(ptr, size);
    return CUDA_SUCCESS;
}

/* Return the driver's number of this physical memory, the same for all mappings; 0 if unknown. */
static uint64_t query_physical_number(CUdeviceptr address)
{
    unsigned long long number = 0;
    return NB_REAL(cuPointerGetAttribute)(&number, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, address) ==
                   CUDA_SUCCESS
               ? number
               : 0;
}

struct twin {
    uint64_t number;
    bool is_found;
};

static void visit_twin(const struct nb_arena_block *block, void *context)
{
    struct twin *twin = context;
    twin->is_found |= block->kind == NB_ARENA_MAPPING && block->owner == twin->number;
}

/* Return why a replay cannot own this mapping's memory, or NULL if it can. */
static const char *find_problem(CUmemGenericAllocationHandle handle, uint64_t number)
{
    CUmemAllocationProp properties;
    CUdevice device;
    struct twin twin = {number, false};
    if (!nb_memory_is_served(&device) ||
        NB_REAL(cuMemGetAllocationPropertiesFromHandle)(&properties, handle) != CUDA_SUCCESS ||
        properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties.location.id != device)
        return "mapped memory of the host or of another device";
    if (number != 0)
        nb_arena_each(visit_twin, &twin);
    return twin.is_found ? "memory that is mapped twice" : NULL;
}

CUresult nb_wrap_when_recording_map(const struct nb_call *call, nb_cuMemMap_t real, CUdeviceptr ptr,
                                    size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                                    unsigned long long flags)
{
    uint64_t begin, reserved;
    const bool is_in_arena = nb_arena_contains(ptr);
    if (is_in_arena && !nb_memory_find_reservation(ptr, size, &begin, &reserved))
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = real(ptr, size, offset, handle, flags);
    if (result != CUDA_SUCCESS)
        return result;
    const uint64_t number = query_physical_number(ptr);
    const char *what = is_in_arena ? find_problem(handle, number) : "memory that is mapped outside the arena";
    struct nb_arena_block block = {
        .address = ptr, .bytes = size, .slot = call->slot, .owner = number, .kind = NB_ARENA_MAPPING};
    if (what == NULL && !nb_arena_add(&block))
        what = "a mapping that did not fit in memory";
    if (what != NULL)
        nb_foreign_add(ptr, size, what);
    return result;
}

CUresult nb_wrap_when_recording_unmap(const struct nb_call *call, nb_cuMemUnmap_t real, CUdeviceptr ptr,
                                      size_t size)
{
    struct nb_arena_block block;
    uint64_t begin, reserved;
    (void)call;
    const bool is_in_arena = nb_arena_contains(ptr);
    if (is_in_arena && !nb_memory_find_reservation(ptr, size, &begin, &reserved))
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t begun = nb_clock();
    const CUresult result = real(ptr, size);
    if (result != CUDA_SUCCESS)
        return result;
    for (uint64_t at = ptr; at - ptr < size; at += NB_ARENA_GRANULE) {
        if (nb_arena_remove(at, NB_ARENA_MAPPING, &block))
            nb_memory_events()->block_ended(&block);
        nb_foreign_remove(at, begun);
    }
    return result;
}

const struct nb_component nb_memory_virtual_component = {.locks = {&lock}};
