/* Functions that the library hands out by name, as cuGetProcAddress (hipGetProcAddress, since 6.1). */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

hipError_t nb_replace_hip_get_proc_address(const struct nb_call *call, nb_hipGetProcAddress_t real,
                                           const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                                           hipDriverProcAddressQueryResult *symbolStatus)
{
    return (hipError_t)nb_replace_get_proc_address_v2(call, NB_SAME(cuGetProcAddress_v2, real), symbol, pfn,
                                                      hipVersion, flags,
                                                      (CUdriverProcAddressQueryResult *)symbolStatus);
}
