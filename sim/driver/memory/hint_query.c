/* Queries of advice and location of managed memory. */
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/memory/hint.h"
#include "driver/memory/range.h"
#include "driver/memory/residency.h"

#include <sys/mman.h>

#define PAGE 4096u

/* The device number that the older attributes use for a place. */
static int number_of(const struct sim_place *place)
{
    switch ((int)place->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return place->id;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return CU_DEVICE_CPU;
    default:
        return CU_DEVICE_INVALID;
    }
}

static CUresult accessed_by(unsigned who, int *numbers, size_t count)
{
    size_t next = 0;
    if ((who & SIM_ACCESSED_BY_DEVICE) != 0 && next < count)
        numbers[next++] = SIM_DEVICE;
    if ((who & SIM_ACCESSED_BY_HOST) != 0 && next < count)
        numbers[next++] = CU_DEVICE_CPU;
    while (next < count)
        numbers[next++] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

static CUresult get(void *data, size_t bytes, CUmem_range_attribute attribute,
                    const struct sim_residency *common)
{
    int *number = data;
    if (data == NULL || bytes == 0 || bytes % sizeof(int) != 0 ||
        (attribute != CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY && bytes != sizeof(int)))
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        *number = common->read_mostly;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        *number = number_of(&common->preferred);
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        return accessed_by(common->accessed_by, number, bytes / sizeof(int));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        *number = number_of(&common->prefetched);
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        *number = (int)common->preferred.type;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        *number = common->preferred.id;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *number = (int)common->prefetched.type;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        *number = common->prefetched.id;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count)
{
    uint64_t begin;
    uint64_t end;
    const CUresult result = sim_hint_range(devPtr, count, &begin, &end);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_residency common = sim_residency_common(begin, end);
    return get(data, dataSize, attribute, &common);
}

CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count)
{
    uint64_t begin;
    uint64_t end;
    CUresult result = sim_hint_range(devPtr, count, &begin, &end);
    if (result != CUDA_SUCCESS)
        return result;
    if (data == NULL || dataSizes == NULL || attributes == NULL || numAttributes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_residency common = sim_residency_common(begin, end);
    for (size_t i = 0; i < numAttributes && result == CUDA_SUCCESS; i++)
        result = get(data[i], dataSizes[i], attributes[i], &common);
    return result;
}

#if CUDA_VERSION >= 13040
/* Whether the page exists and has memory. */
static bool is_populated(uint64_t address)
{
    unsigned char resident = 0;
    void *page = (void *)(uintptr_t)(address & ~(uint64_t)(PAGE - 1));
    return mincore(page, PAGE, &resident) == 0 && (resident & 1u) != 0;
}

/* Location of a page. All memory is one here: the location is that of the last prefetch, or the preferred
 * one, or the host once the page was touched. */
static struct sim_place place_at(uint64_t address)
{
    const struct sim_residency state = sim_residency_common(address, address + 1);
    if (state.prefetched.type != CU_MEM_LOCATION_TYPE_INVALID)
        return state.prefetched;
    if (!is_populated(address))
        return (struct sim_place){CU_MEM_LOCATION_TYPE_INVALID, 0};
    if (state.preferred.type != CU_MEM_LOCATION_TYPE_INVALID)
        return state.preferred;
    return (struct sim_place){CU_MEM_LOCATION_TYPE_HOST, 0};
}

#define PLACES 3 /* none, device, host */

/* The place of most samples of [begin, end). */
static struct sim_place most_common(uint64_t begin, uint64_t end, size_t step)
{
    struct sim_place places[PLACES] = {{0}};
    size_t counts[PLACES] = {0};
    for (uint64_t address = begin; address<end; address = end - address> step ? address + step : end) {
        const struct sim_place place = place_at(address);
        const size_t which = place.type == CU_MEM_LOCATION_TYPE_INVALID  ? 0
                             : place.type == CU_MEM_LOCATION_TYPE_DEVICE ? 1
                                                                         : 2;
        places[which] = place;
        counts[which]++;
    }
    size_t best = 0;
    for (size_t i = 1; i < PLACES; i++)
        if (counts[i] > counts[best])
            best = i;
    return places[best];
}

/* Whether it is managed memory, or unregistered pages of the program. */
static bool is_queryable(uint64_t address, size_t bytes)
{
    struct sim_range range;
    if (bytes == 0 || address + bytes < address)
        return false;
    if (sim_range_find(address, &range))
        return range.kind == SIM_MEMORY_MANAGED && bytes <= range.end - address;
    const uint64_t first = address & ~(uint64_t)(PAGE - 1);
    return msync((void *)(uintptr_t)first, address + bytes - first, MS_ASYNC) == 0;
}

CUresult cuMemGetLocationInfo(CUdeviceptr ptr, size_t size, size_t summaryGranularity,
                              size_t samplingGranularity, CUmemLocation *location_out)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (location_out == NULL || summaryGranularity == 0 || summaryGranularity > size ||
        samplingGranularity > summaryGranularity || !is_queryable(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    const size_t step = samplingGranularity == 0 ? PAGE : samplingGranularity;
    for (size_t at = 0, i = 0; at < size; i++) {
        const size_t length = size - at < summaryGranularity ? size - at : summaryGranularity;
        const struct sim_place place = most_common(ptr + at, ptr + at + length, step);
        location_out[i] = (CUmemLocation){.type = place.type, .id = place.id};
        at += length;
    }
    return CUDA_SUCCESS;
}
#endif
