/* Queries and settings of a context. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/device/device.h"
#include "driver/stream/stream.h"

CUresult cuCtxGetDevice(CUdevice *device)
{
    struct sim_context *context;
    const CUresult result = sim_enter_any(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *device = SIM_DEVICE;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
    struct sim_context *context;
    const CUresult result = sim_enter_any(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = atomic_load(&context->flags);
    return CUDA_SUCCESS;
}

/* Flags that matter only when a context is made are accepted and ignored. */
CUresult cuCtxSetFlags(unsigned int flags)
{
    const unsigned settable = CU_CTX_SCHED_MASK | CU_CTX_LMEM_RESIZE_TO_MAX | CU_CTX_SYNC_MEMOPS;
    struct sim_context *context;
    const CUresult result = sim_enter_any(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_context_flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    const unsigned always = atomic_load(&context->flags) & CU_CTX_MAP_HOST;
    atomic_store(&context->flags, (flags & settable) | always);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    struct sim_context *context;
    const CUresult result = sim_enter_faulted(ctx, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (ctxId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *ctxId = context->id;
    return CUDA_SUCCESS;
}

/* Also works after a fault. */
CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    struct sim_context *context;
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (ctx == NULL) {
        result = sim_enter(&context);
    } else {
        context = sim_object_find(ctx, SIM_CONTEXT);
        result = context == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS)
        *version = context->api_version;
    return result;
}

/* A context with a capture cannot be waited for: captured work is not queued. */
static CUresult synchronize(struct sim_context *context)
{
    if (sim_capture_invalidate_context(context))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const CUresult result = sim_capture_check_unsafe();
    return result == CUDA_SUCCESS ? sim_context_synchronize(context) : result;
}

CUresult cuCtxSynchronize(void)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    return result == CUDA_SUCCESS ? synchronize(context) : result;
}

#if CUDA_VERSION >= 13000
CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
    struct sim_context *context;
    const CUresult result = sim_enter_with(ctx, &context);
    return result == CUDA_SUCCESS ? synchronize(context) : result;
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    struct sim_context *context;
    const CUresult result = sim_enter_faulted(ctx, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *device = SIM_DEVICE;
    return CUDA_SUCCESS;
}
#endif

CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pconfig == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pconfig = (CUfunc_cache)atomic_load(&context->cache_config);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    struct sim_context *context;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_capture_check_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    atomic_store(&context->cache_config, (int)config);
    return CUDA_SUCCESS;
}

/* Since compute capability 5.0 shared memory banks have four bytes. Requests for other sizes are ignored. */
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pConfig == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE
                                                                        : CUDA_SUCCESS;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pExecAffinity == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    pExecAffinity->type = type;
    pExecAffinity->param.smCount.val = sim_context_multiprocessors(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (leastPriority != NULL)
        *leastPriority = SIM_PRIORITY_LEAST;
    if (greatestPriority != NULL)
        *greatestPriority = SIM_PRIORITY_GREATEST;
    return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    struct sim_context *context;
    return sim_enter(&context); /* no persisting lines in a CPU's cache */
}
