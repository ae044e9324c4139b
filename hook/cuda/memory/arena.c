#include "cuda/memory/arena.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/arena/fault.h"
#include "core/base/log.h"
#include "core/driver/slots.h"
#include "core/region/region.h"
#include "core/wire/capture_format.h"
#include "real.h"
#include "surface.h"

enum { UNKNOWN, READY, FAILED };

static pthread_mutex_t set_up_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int state = UNKNOWN;
static CUdevice arena_device; /* valid when READY */

static bool is_granular(CUdevice device)
{
    const CUmemAllocationProp memory = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    size_t granularity = 0;
    return NB_REAL(cuMemGetAllocationGranularity)(&granularity, &memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM) ==
               CUDA_SUCCESS &&
           granularity != 0 && NB_ARENA_GRANULE % granularity == 0;
}

static bool reserve(uint64_t bytes)
{
    CUdeviceptr address = 0;
    if (NB_REAL(cuMemAddressReserve)(&address, bytes, 0, NB_CAPTURE_ARENA, 0) != CUDA_SUCCESS)
        return false;
    if (address == NB_CAPTURE_ARENA && nb_arena_configure(address, bytes))
        return true;
    NB_REAL(cuMemAddressFree)(address, bytes);
    return false;
}

/* Reserve many times more addresses than the device has memory. Programs that manage virtual memory
 * reserve several times the device's memory (PyTorch's expandable segments: 1.125 times for each stream
 * and kind of block). */
static bool set_up(CUdevice device)
{
    size_t memory = 0;
    if (!is_granular(device) || NB_REAL(cuDeviceTotalMem_v2)(&memory, device) != CUDA_SUCCESS)
        return false;
    const uint64_t granules = memory / NB_ARENA_GRANULE + 1;
    for (uint64_t times = 16; times != 0; times /= 2)
        if (reserve(times * granules * NB_ARENA_GRANULE))
            return true;
    return false;
}

bool nb_memory_is_served(CUdevice *device)
{
    CUdevice current;
    if (!nb_capture_enabled() || NB_REAL(cuCtxGetDevice)(&current) != CUDA_SUCCESS)
        return false;
    if (atomic_load_explicit(&state, memory_order_acquire) == UNKNOWN) {
        pthread_mutex_lock(&set_up_lock);
        if (atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN) {
            const bool is_ready = set_up(current);
            arena_device = current;
            if (is_ready)
                nb_fault_explain();
            else
                nb_log("device memory has no fixed address, so recorded regions cannot be replayed: ",
                       "the driver does not reserve addresses at 0x300000000000", "");
            atomic_store_explicit(&state, is_ready ? READY : FAILED, memory_order_release);
        }
        pthread_mutex_unlock(&set_up_lock);
    }
    *device = current;
    return atomic_load_explicit(&state, memory_order_acquire) == READY && current == arena_device;
}

bool nb_memory_has_failed(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == FAILED;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + NB_ARENA_GRANULE - 1) / NB_ARENA_GRANULE * NB_ARENA_GRANULE;
}

static void unmap(uint64_t address, uint64_t bytes)
{
    if (NB_REAL(cuMemUnmap)(address, round_up(bytes)) == CUDA_SUCCESS)
        nb_arena_release(address, bytes);
    /* on failure memory is still mapped here, so keep the addresses taken */
}

/* Release the handle at once: the mapping keeps its memory. */
static CUresult map(uint64_t address, uint64_t bytes)
{
    const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = arena_device};
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = here};
    const CUmemAccessDesc access = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CUresult result = NB_REAL(cuMemCreate)(&memory, round_up(bytes), &properties, 0);
    if (result == CUDA_SUCCESS) {
        result = NB_REAL(cuMemMap)(address, round_up(bytes), 0, memory, 0);
        NB_REAL(cuMemRelease)(memory);
        if (result == CUDA_SUCCESS) {
            result = NB_REAL(cuMemSetAccess)(address, round_up(bytes), &access, 1);
            if (result == CUDA_SUCCESS)
                return CUDA_SUCCESS;
            unmap(address, bytes);
            return result;
        }
    }
    nb_arena_release(address, bytes);
    return result;
}

static CUresult map_large(struct nb_arena_block *block)
{
    block->address = nb_arena_reserve(block->bytes, 0, 0);
    return block->address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : map(block->address, block->bytes);
}

static CUresult map_small(struct nb_arena_block *block)
{
    block->address = nb_arena_take(block->bytes);
    if (block->address != 0)
        return CUDA_SUCCESS;
    struct nb_arena_block granule = {.bytes = NB_ARENA_GRANULE};
    const CUresult result = map_large(&granule);
    if (result != CUDA_SUCCESS)
        return result;
    block->address = nb_arena_share(granule.address, block->bytes);
    if (block->address == 0)
        unmap(granule.address, granule.bytes);
    return block->address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult nb_memory_map_block(struct nb_arena_block *block)
{
    return block->bytes < NB_ARENA_SMALL ? map_small(block) : map_large(block);
}

void nb_memory_give_back(const struct nb_arena_block *block)
{
    if (block->bytes >= NB_ARENA_SMALL) {
        unmap(block->address, block->bytes);
        return;
    }
    const uint64_t granule = nb_arena_give(block->address, block->bytes);
    if (granule != 0)
        unmap(granule, NB_ARENA_GRANULE);
}

const struct nb_component nb_memory_arena_component = {.locks = {&set_up_lock}};
