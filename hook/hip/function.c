/* Kernels by their handles: hipFunction_t, or the address of a host stub. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>

#include "driver/hip.h"
#include "funcmap.h"
#include "handle.h"

/* A stub is in an object of the program; a hipFunction_t is the library's own, on its heap. */
static bool is_in_an_object(CUfunction function)
{
    Dl_info info;
    return dladdr((const void *)function, &info) != 0;
}

bool nb_hip_is_stub(CUfunction function)
{
    const struct nb_function *known = nb_funcmap_get(nb_handle(function));
    if (known != NULL && (known->kind == NB_FUNCTION_STUB || known->binary != NULL))
        return known->kind == NB_FUNCTION_STUB;
    return is_in_an_object(function);
}

CUresult nb_hip_stub_attribute(int *value, CUfunction_attribute attribute, CUfunction stub)
{
    hipFuncAttributes facts;
    const CUresult result = (CUresult)HIP(hipFuncGetAttributes)(&facts, (const void *)stub);
    if (result != CUDA_SUCCESS)
        return result;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = facts.maxThreadsPerBlock;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)facts.sharedSizeBytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)facts.constSizeBytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)facts.localSizeBytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = facts.numRegs;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = facts.ptxVersion;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = facts.binaryVersion;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = facts.cacheModeCA;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = facts.maxDynamicSharedSizeBytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = facts.preferredShmemCarveout;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* HIP does not say of a function what it is in; whoever saw it looked up does. */
CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    const struct nb_function *known = nb_funcmap_get(nb_handle(hfunc));
    if (known == NULL || known->binary == NULL)
        return CUDA_ERROR_NOT_FOUND;
    *hmod = (CUmodule)known->binary->handle;
    return CUDA_SUCCESS;
}

/* Of a handle that nobody saw: one of a stub has no name but its own. */
CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
    if (hfunc == NULL || is_in_an_object(hfunc))
        return CUDA_ERROR_INVALID_HANDLE;
    *name = HIP(hipKernelNameRef)((hipFunction_t)hfunc);
    return *name != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
