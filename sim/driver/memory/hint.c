/* Prefetches and advice for managed memory. There is only one memory here, so valid hints are only stored. */
#include "driver/memory/hint.h"

#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/memory/range.h"
#include "driver/memory/residency.h"
#include "driver/stream/stream.h"

#define PAGE 4096u

CUresult sim_hint_range(CUdeviceptr address, size_t bytes, uint64_t *begin, uint64_t *end)
{
    struct sim_context *context;
    struct sim_range range;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_range_find(address, &range) || range.kind != SIM_MEMORY_MANAGED || bytes == 0 ||
        bytes > range.end - address)
        return CUDA_ERROR_INVALID_VALUE;
    /* "rounded down and rounded up respectively to be aligned to CPU page size" (cuda.h). Allocations here
     * need not begin at a page, and advice for an allocation must not affect its neighbour. */
    const uint64_t first = address & ~(uint64_t)(PAGE - 1);
    const uint64_t last = (address + bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    *begin = first < range.begin ? range.begin : first;
    *end = last > range.end ? range.end : last;
    return CUDA_SUCCESS;
}

/* Convert a location. There is one host node, the closest one. */
static CUresult place_of(CUmemLocation location, struct sim_place *place)
{
    *place = (struct sim_place){location.type, 0};
    switch ((int)location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return location.id == SIM_DEVICE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        place->type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return location.id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUmemLocation location_of(CUdevice device)
{
    const bool host = device == CU_DEVICE_CPU;
    return (CUmemLocation){.type = host ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
                           .id = host ? 0 : device};
}

CUresult sim_hint_check_location(CUmemLocation location)
{
    struct sim_place place;
    return place_of(location, &place);
}

CUresult sim_hint_prefetch(CUdeviceptr address, size_t bytes, CUmemLocation location)
{
    uint64_t begin;
    uint64_t end;
    struct sim_residency wanted = {0};
    CUresult result = sim_hint_range(address, bytes, &begin, &end);
    if (result == CUDA_SUCCESS)
        result = place_of(location, &wanted.prefetched);
    if (result == CUDA_SUCCESS && !sim_residency_set(begin, end, SIM_RESIDENCY_PREFETCHED, &wanted))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    return result;
}

static CUresult prefetch(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                         CUstream hStream, bool per_thread)
{
    struct sim_context *context;
    struct sim_stream *stream;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result == CUDA_SUCCESS && flags != 0)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_stream_is_capturing(stream))
        return sim_hint_prefetch(address, bytes, location);
    sim_capture_invalidate(stream);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    return prefetch(devPtr, count, location_of(dstDevice), 0, hStream, false);
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    return prefetch(devPtr, count, location_of(dstDevice), 0, hStream, true);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream hStream)
{
    return prefetch(devPtr, count, location, flags, hStream, false);
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                    unsigned int flags, CUstream hStream)
{
    return prefetch(devPtr, count, location, flags, hStream, true);
}

/* Convert advice to a field and its value. */
static CUresult read_advice(CUmem_advise advice, CUmemLocation location, enum sim_residency_field *field,
                            struct sim_residency *wanted)
{
    CUresult result;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        *field = SIM_RESIDENCY_READ_MOSTLY;
        wanted->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        *field = SIM_RESIDENCY_PREFERRED;
        return place_of(location, &wanted->preferred);
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        *field = SIM_RESIDENCY_PREFERRED;
        return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        *field = advice == CU_MEM_ADVISE_SET_ACCESSED_BY ? SIM_RESIDENCY_ACCESSED_BY_ADD
                                                         : SIM_RESIDENCY_ACCESSED_BY_REMOVE;
        if (location.type != CU_MEM_LOCATION_TYPE_DEVICE && location.type != CU_MEM_LOCATION_TYPE_HOST)
            return CUDA_ERROR_INVALID_VALUE;
        result = place_of(location, &wanted->preferred);
        wanted->accessed_by =
            location.type == CU_MEM_LOCATION_TYPE_HOST ? SIM_ACCESSED_BY_HOST : SIM_ACCESSED_BY_DEVICE;
        return result;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
    uint64_t begin;
    uint64_t end;
    enum sim_residency_field field;
    struct sim_residency wanted = {0};
    CUresult result = sim_hint_range(address, bytes, &begin, &end);
    if (result == CUDA_SUCCESS)
        result = read_advice(advice, location, &field, &wanted);
    if (result == CUDA_SUCCESS && !sim_residency_set(begin, end, field, &wanted))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    return result;
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    return advise(devPtr, count, advice, location_of(device));
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
    return advise(devPtr, count, advice, location);
}
