/* Kernel attributes: HIP has CUDA's first ten, with the same numbers. */
#include "hip/driver/hip.h"

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    if ((unsigned)attrib >= HIP_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (nb_hip_is_stub(hfunc))
        return nb_hip_stub_attribute(pi, attrib, hfunc);
    return nb_hip_result(HIP(hipFuncGetAttribute)(pi, (hipFunction_attribute)attrib, (hipFunction_t)hfunc));
}

/* "On AMD devices these hints and controls are ignored" (hip_runtime_api.h): the library takes any pointer.
 */
CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    if (attrib != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
        attrib != CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        return CUDA_ERROR_NOT_SUPPORTED;
    return nb_hip_result(HIP(hipFuncSetAttribute)(hfunc, (hipFuncAttribute)attrib, value));
}
