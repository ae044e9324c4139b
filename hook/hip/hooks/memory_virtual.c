/* The program's own virtual memory, as cuMemAddressReserve and the like. */
#include "core/process/call.h"
#include "hip/hooks/answer.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

hipError_t nb_through_hip_address_reserve(const struct nb_call *call, nb_hipMemAddressReserve_t real,
                                          void **ptr, size_t size, size_t alignment, void *addr,
                                          unsigned long long flags)
{
    return nb_hip_answer(nb_through_address_reserve(call, NB_SAME(cuMemAddressReserve, real),
                                                    (CUdeviceptr *)ptr, size, alignment, nb_address(addr),
                                                    flags));
}

hipError_t nb_through_hip_address_free(const struct nb_call *call, nb_hipMemAddressFree_t real, void *devPtr,
                                       size_t size)
{
    return nb_hip_answer(
        nb_through_address_free(call, NB_SAME(cuMemAddressFree, real), nb_address(devPtr), size));
}

hipError_t nb_through_hip_map(const struct nb_call *call, nb_hipMemMap_t real, void *ptr, size_t size,
                              size_t offset, hipMemGenericAllocationHandle_t handle, unsigned long long flags)
{
    return nb_hip_answer(nb_through_map(call, NB_SAME(cuMemMap, real), nb_address(ptr), size, offset,
                                        nb_address(handle), flags));
}

hipError_t nb_through_hip_unmap(const struct nb_call *call, nb_hipMemUnmap_t real, void *ptr, size_t size)
{
    return nb_hip_answer(nb_through_unmap(call, NB_SAME(cuMemUnmap, real), nb_address(ptr), size));
}
