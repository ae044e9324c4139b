/* Kernels by their handles: a hipFunction_t, or the address of a host stub. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>

#include "core/maps/funcmap.h"
#include "cuda/kernel/handle.h"
#include "hip/driver/hip.h"
#include "hip/hooks/registered.h"

/* An unregistered stub is in an object of the program. A hipFunction_t is on the library's heap. */
static bool is_in_an_object(CUfunction function)
{
    Dl_info info;
    return dladdr((const void *)function, &info) != 0;
}

bool nb_hip_is_stub(CUfunction function)
{
    if (nb_registered_kernel(nb_handle(function)) != NULL)
        return true;
    const struct nb_function *function_record = nb_funcmap_get(nb_handle(function));
    return (function_record == NULL || function_record->binary == NULL) && is_in_an_object(function);
}

CUresult nb_hip_stub_attribute(int *value, CUfunction_attribute attribute, CUfunction stub)
{
    hipFuncAttributes facts;
    const CUresult result = nb_hip_result(HIP(hipFuncGetAttributes)(&facts, (const void *)stub));
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

/* ---- queries that HIP lacks ---------------------------------------------------------------------------- */

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    const struct nb_registered *registered = nb_registered_kernel(nb_handle(hfunc));
    const struct nb_function *function_record = nb_funcmap_get(nb_handle(hfunc));
    if (registered != NULL) {
        nb_registered_load(registered->binary);
        *hmod = (CUmodule)registered->binary;
        return CUDA_SUCCESS;
    }
    if (function_record == NULL || function_record->binary == NULL)
        return CUDA_ERROR_NOT_FOUND;
    *hmod = (CUmodule)function_record->binary->handle;
    return CUDA_SUCCESS;
}

/* Names a kernel that the program did not look up. An unregistered stub has only the program's own symbol. */
CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
    const struct nb_registered *registered = nb_registered_kernel(nb_handle(hfunc));
    if (registered != NULL) {
        *name = registered->name;
        return CUDA_SUCCESS;
    }
    if (hfunc == NULL || is_in_an_object(hfunc))
        return CUDA_ERROR_INVALID_HANDLE;
    *name = HIP(hipKernelNameRef)((hipFunction_t)hfunc);
    return *name != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
