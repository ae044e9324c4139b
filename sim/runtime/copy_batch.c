/* Many copies, prefetches or discards in one call. */
#include "runtime/cudart.h"

#include <stdint.h>

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes) &&
                   offsetof(struct cudaMemcpyAttributes, flags) == offsetof(CUmemcpyAttributes, flags) &&
                   sizeof(struct cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP) &&
                   offsetof(struct cudaMemcpy3DBatchOp, dst) == offsetof(CUDA_MEMCPY3D_BATCH_OP, dst) &&
                   offsetof(struct cudaMemcpy3DBatchOp, extent) == offsetof(CUDA_MEMCPY3D_BATCH_OP, extent) &&
                   (int)cudaMemcpyOperandTypeArray == (int)CU_MEMCPY_OPERAND_TYPE_ARRAY &&
                   sizeof(struct cudaMemLocation) == sizeof(CUmemLocation),
               "passed on unchanged");

/* The driver does not change what its parameters without const point to. */
#define POINTERS(list) ((CUdeviceptr *)(uintptr_t)(list))

FORWARD_STREAM(cudaMemcpyBatchAsync,
               (void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream),
               cuMemcpyBatchAsync, POINTERS(dsts), POINTERS(srcs), (size_t *)(uintptr_t)sizes, count,
               (CUmemcpyAttributes *)(void *)attrs, attrsIdxs, numAttrs, stream)
FORWARD_STREAM(cudaMemcpy3DBatchAsync,
               (size_t numOps, struct cudaMemcpy3DBatchOp *opList, unsigned long long flags,
                cudaStream_t stream),
               cuMemcpy3DBatchAsync, numOps, (CUDA_MEMCPY3D_BATCH_OP *)(void *)opList, flags, stream)
FORWARD_STREAM(cudaMemPrefetchBatchAsync,
               (void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
                size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                cudaStream_t stream),
               cuMemPrefetchBatchAsync, POINTERS(dptrs), sizes, count, (CUmemLocation *)(void *)prefetchLocs,
               prefetchLocIdxs, numPrefetchLocs, flags, stream)
FORWARD_STREAM(cudaMemDiscardBatchAsync,
               (void **dptrs, size_t *sizes, size_t count, unsigned long long flags, cudaStream_t stream),
               cuMemDiscardBatchAsync, POINTERS(dptrs), sizes, count, flags, stream)
FORWARD_STREAM(cudaMemDiscardAndPrefetchBatchAsync,
               (void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
                size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                cudaStream_t stream),
               cuMemDiscardAndPrefetchBatchAsync, POINTERS(dptrs), sizes, count,
               (CUmemLocation *)(void *)prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream)
