/* Queries and settings of functions and kernels. */
#include "driver/code/module.h"
#include "driver/code/occupancy.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/device/device.h"
#include "driver/device/model.h"

CUresult sim_function_resolve(struct sim_context *context, CUfunction handle, struct sim_function **function)
{
    *function = sim_object_find(handle, SIM_FUNCTION);
    if (*function != NULL)
        return CUDA_SUCCESS;
    struct sim_kernel *kernel = sim_object_find(handle, SIM_KERNEL);
    return kernel == NULL ? CUDA_ERROR_INVALID_HANDLE : sim_kernel_function(context, kernel, function);
}

/* A CUkernel is refused here, although a launch accepts it (driver 580.159). `out` is the caller's output
 * pointer; a call without output passes any pointer but NULL. */
static CUresult find_function(CUfunction handle, const void *out, struct sim_function **function)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *function = sim_object_find(handle, SIM_FUNCTION);
    return *function == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult find_kernel(CUkernel handle, const void *out, struct sim_kernel **kernel)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *kernel = sim_object_find(handle, SIM_KERNEL);
    return *kernel == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult get(int *pi, CUfunction_attribute attribute, const struct ptx_kernel *ptx,
                    struct sim_settings *settings)
{
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(ptx, &known);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *pi = known.required[0] != 0 ? SIM_BLOCK_THREADS : (int)known.max_threads; /* as on an H200 */
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *pi = (int)known.shared_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *pi = (int)known.constant_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *pi = (int)known.local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *pi = (int)sim_occupancy_registers(&known);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *pi = (int)known.target;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *pi = (int)sim_model_target();
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *pi = atomic_load(&settings->max_dynamic_shared);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *pi = atomic_load(&settings->carveout);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *pi = atomic_load(&settings->nonportable_cluster);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *pi = atomic_load(&settings->cluster_policy);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *pi = (int)known.cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *pi = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult set(CUfunction_attribute attribute, int value, const struct ptx_kernel *ptx,
                    struct sim_settings *settings)
{
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(ptx, &known);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > sim_model()->block_shared_optin - (int)known.shared_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        atomic_store(&settings->max_dynamic_shared, value);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        atomic_store(&settings->carveout, value);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        atomic_store(&settings->nonportable_cluster, value);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        atomic_store(&settings->cluster_policy, value);
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult parameter_info(const struct ptx_kernel *ptx, size_t index, size_t *offset, size_t *bytes)
{
    size_t size;
    if (offset == NULL || index >= ptx_kernel_parameter_count(ptx))
        return CUDA_ERROR_INVALID_VALUE;
    ptx_kernel_parameter(ptx, index, offset, bytes == NULL ? &size : bytes);
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    struct sim_function *function;
    const CUresult result = find_function(hfunc, pi, &function);
    return result == CUDA_SUCCESS ? get(pi, attrib, function->ptx, function->settings) : result;
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    struct sim_function *function;
    const CUresult result = find_function(hfunc, &function, &function);
    return result == CUDA_SUCCESS ? set(attrib, value, function->ptx, function->settings) : result;
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    struct sim_function *function;
    const CUresult result = find_function(hfunc, &function, &function);
    if (result != CUDA_SUCCESS)
        return result;
    return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
    struct sim_function *function;
    (void)config; /* shared memory has no banks here */
    return find_function(hfunc, &function, &function);
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    struct sim_function *function;
    const CUresult result = find_function(hfunc, hmod, &function);
    if (result == CUDA_SUCCESS)
        *hmod = (CUmodule)function->module;
    return result;
}

#if CUDA_VERSION >= 12030
/* This call, and the parameter queries of functions and kernels, answer CUDA_ERROR_INVALID_VALUE for NULL,
 * not CUDA_ERROR_INVALID_HANDLE (580.159). */
CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
    struct sim_function *function;
    const CUresult result = find_function(hfunc, hfunc == NULL ? NULL : (const void *)name, &function);
    if (result == CUDA_SUCCESS)
        *name = ptx_kernel_name(function->ptx);
    return result;
}

CUresult cuKernelGetName(const char **name, CUkernel hfunc)
{
    struct sim_kernel *kernel;
    const CUresult result = find_kernel(hfunc, name, &kernel);
    if (result == CUDA_SUCCESS)
        *name = ptx_kernel_name(kernel->ptx);
    return result;
}
#endif

#if CUDA_VERSION >= 12040
CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    struct sim_function *function;
    const CUresult result = find_function(func, func == NULL ? NULL : paramOffset, &function);
    return result == CUDA_SUCCESS ? parameter_info(function->ptx, paramIndex, paramOffset, paramSize)
                                  : result;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    struct sim_kernel *self;
    const CUresult result = find_kernel(kernel, kernel == NULL ? NULL : paramOffset, &self);
    return result == CUDA_SUCCESS ? parameter_info(self->ptx, paramIndex, paramOffset, paramSize) : result;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    struct sim_function *found;
    const CUresult result = find_function(function, state, &found);
    if (result == CUDA_SUCCESS)
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return result;
}

CUresult cuFuncLoad(CUfunction function)
{
    struct sim_function *found;
    return find_function(function, &found, &found);
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    struct sim_kernel *self;
    const CUresult result = find_kernel(kernel, pLib, &self);
    if (result == CUDA_SUCCESS)
        *pLib = (CUlibrary)self->library;
    return result;
}
#endif

#if CUDA_VERSION >= 13020
CUresult cuFuncGetParamCount(CUfunction func, size_t *paramCount)
{
    struct sim_function *function;
    const CUresult result = find_function(func, paramCount, &function);
    if (result == CUDA_SUCCESS)
        *paramCount = ptx_kernel_parameter_count(function->ptx);
    return result;
}

CUresult cuKernelGetParamCount(CUkernel kernel, size_t *paramCount)
{
    struct sim_kernel *self;
    const CUresult result = find_kernel(kernel, paramCount, &self);
    if (result == CUDA_SUCCESS)
        *paramCount = ptx_kernel_parameter_count(self->ptx);
    return result;
}
#endif

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    struct sim_context *context;
    struct sim_kernel *self;
    struct sim_function *function;
    CUresult result = find_kernel(kernel, pFunc, &self);
    if (result == CUDA_SUCCESS)
        result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_kernel_function(context, self, &function);
    if (result == CUDA_SUCCESS)
        *pFunc = (CUfunction)function;
    return result;
}

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    struct sim_kernel *self;
    const CUresult result = find_kernel(kernel, pi, &self);
    if (result != CUDA_SUCCESS)
        return result;
    return dev == SIM_DEVICE ? get(pi, attrib, self->ptx, &self->settings) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    struct sim_kernel *self;
    const CUresult result = find_kernel(kernel, &self, &self);
    if (result != CUDA_SUCCESS)
        return result;
    return dev == SIM_DEVICE ? set(attrib, val, self->ptx, &self->settings) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    struct sim_kernel *self;
    const CUresult result = find_kernel(kernel, &self, &self);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    return dev == SIM_DEVICE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
