/* Prefetches and discards of several ranges in one call. All are checked before the first is stored. */
#include "driver/context/context.h"
#include "driver/memory/hint.h"
#include "driver/stream/stream.h"

#if CUDA_VERSION >= 13000

struct ranges {
    const CUdeviceptr *addresses;
    const size_t *sizes;
    size_t count;
};

struct locations {
    const CUmemLocation *at;
    const size_t *indexes; /* of the first range of each entry */
    size_t count;
};

/* "Must not be legacy NULL stream" (cuda.h). */
static CUresult enter(const struct ranges *ranges, unsigned long long flags, CUstream hStream,
                      bool per_thread)
{
    struct sim_context *context;
    struct sim_stream *stream;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (hStream == CU_STREAM_LEGACY || (hStream == NULL && !per_thread))
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result == CUDA_SUCCESS &&
        (flags != 0 || ranges->addresses == NULL || ranges->sizes == NULL || ranges->count == 0))
        result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < ranges->count && result == CUDA_SUCCESS; i++) {
        uint64_t begin;
        uint64_t end;
        result = sim_hint_range(ranges->addresses[i], ranges->sizes[i], &begin, &end);
    }
    return result;
}

static CUresult check_locations(const struct locations *locations, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    if (locations->at == NULL || locations->indexes == NULL || locations->count == 0 ||
        locations->count > count || locations->indexes[0] != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 1; i < locations->count; i++)
        if (locations->indexes[i] <= locations->indexes[i - 1] || locations->indexes[i] >= count)
            return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < locations->count && result == CUDA_SUCCESS; i++)
        result = sim_hint_check_location(locations->at[i]);
    return result;
}

static CUresult prefetch(const struct ranges *ranges, const struct locations *locations,
                         unsigned long long flags, CUstream hStream, bool per_thread)
{
    CUresult result = enter(ranges, flags, hStream, per_thread);
    if (result == CUDA_SUCCESS)
        result = check_locations(locations, ranges->count);
    for (size_t i = 0, k = 0; i < ranges->count && result == CUDA_SUCCESS; i++) {
        if (k + 1 < locations->count && locations->indexes[k + 1] == i)
            k++;
        result = sim_hint_prefetch(ranges->addresses[i], ranges->sizes[i], locations->at[k]);
    }
    return result;
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,
                                 size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                 CUstream hStream)
{
    return prefetch(&(struct ranges){dptrs, sizes, count},
                    &(struct locations){prefetchLocs, prefetchLocIdxs, numPrefetchLocs}, flags, hStream,
                    false);
}

CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                      CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                      size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
    return prefetch(&(struct ranges){dptrs, sizes, count},
                    &(struct locations){prefetchLocs, prefetchLocIdxs, numPrefetchLocs}, flags, hStream,
                    true);
}

/* The contents of discarded memory are undefined, so they may as well stay. */
CUresult cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned long long flags,
                                CUstream hStream)
{
    return enter(&(struct ranges){dptrs, sizes, count}, flags, hStream, false);
}

CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                     unsigned long long flags, CUstream hStream)
{
    return enter(&(struct ranges){dptrs, sizes, count}, flags, hStream, true);
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                           CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                           size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
    return prefetch(&(struct ranges){dptrs, sizes, count},
                    &(struct locations){prefetchLocs, prefetchLocIdxs, numPrefetchLocs}, flags, hStream,
                    false);
}

CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                                CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                                size_t numPrefetchLocs, unsigned long long flags,
                                                CUstream hStream)
{
    return prefetch(&(struct ranges){dptrs, sizes, count},
                    &(struct locations){prefetchLocs, prefetchLocIdxs, numPrefetchLocs}, flags, hStream,
                    true);
}

#endif
