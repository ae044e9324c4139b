/* Stream-ordered memory and its pools, as cuMemAllocAsync and the like. */
#include "core/process/call.h"
#include "hip/hooks/answer.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

hipError_t nb_through_hip_alloc_async(const struct nb_call *call, nb_hipMallocAsync_t real, void **dev_ptr,
                                      size_t size, hipStream_t stream)
{
    return nb_hip_answer(nb_through_alloc_async(call, NB_SAME(cuMemAllocAsync, real), (CUdeviceptr *)dev_ptr,
                                                size, (CUstream)stream));
}

hipError_t nb_through_hip_alloc_from_pool(const struct nb_call *call, nb_hipMallocFromPoolAsync_t real,
                                          void **dev_ptr, size_t size, hipMemPool_t mem_pool,
                                          hipStream_t stream)
{
    return nb_hip_answer(nb_through_alloc_from_pool(call, NB_SAME(cuMemAllocFromPoolAsync, real),
                                                    (CUdeviceptr *)dev_ptr, size, (CUmemoryPool)mem_pool,
                                                    (CUstream)stream));
}

hipError_t nb_through_hip_free_async(const struct nb_call *call, nb_hipFreeAsync_t real, void *dev_ptr,
                                     hipStream_t stream)
{
    return nb_hip_answer(
        nb_through_free_async(call, NB_SAME(cuMemFreeAsync, real), nb_address(dev_ptr), (CUstream)stream));
}

void nb_after_hip_pool_create(const struct nb_call *call, hipError_t result, hipMemPool_t *mem_pool,
                              const hipMemPoolProps *pool_props)
{
    CUmemPoolProps same;
    _Static_assert(sizeof same == sizeof *pool_props, "the structure is CUDA's");
    if (result != hipSuccess || pool_props == NULL)
        return;
    memcpy(&same, pool_props, sizeof same);
    nb_after_pool_create(call, CUDA_SUCCESS, (CUmemoryPool *)mem_pool, &same);
}

void nb_after_hip_pool_destroy(const struct nb_call *call, hipError_t result, hipMemPool_t mem_pool)
{
    nb_after_pool_destroy(call, (CUresult)result, (CUmemoryPool)mem_pool);
}

void nb_after_hip_pool_trim(const struct nb_call *call, hipError_t result, hipMemPool_t mem_pool,
                            size_t min_bytes_to_hold)
{
    nb_after_pool_trim(call, (CUresult)result, (CUmemoryPool)mem_pool, min_bytes_to_hold);
}
