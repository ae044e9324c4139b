/* cuCtxCreate, cuCtxDestroy and their variants. */
#include "driver/context/life.h"
#include "driver/core/state.h"
#include "driver/device/device.h"

/* At most one scheduling flag is allowed. */
bool sim_context_flags_are_valid(unsigned flags)
{
    const unsigned schedule = flags & CU_CTX_SCHED_MASK;
    return (flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0 && (schedule & (schedule - 1)) == 0;
}

static CUresult create(CUcontext *pctx, unsigned flags, CUdevice dev)
{
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (pctx == NULL || !sim_context_flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    if (dev != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    if (sim_process_error() != CUDA_SUCCESS)
        return sim_process_error();
    struct sim_context *context = sim_context_make(flags);
    if (context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = sim_context_begin(context);
    if (result == CUDA_SUCCESS)
        result = sim_object_publish(context) ? sim_context_push(context) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        (void)sim_object_withdraw(context, SIM_CONTEXT);
        sim_object_release(context);
        return result;
    }
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

/* The first version makes contexts with 32-bit device pointers. After its checks, a 64-bit driver returns
 * CUDA_ERROR_OUT_OF_MEMORY (580.159). */
CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (pctx == NULL || !sim_context_flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    return dev == SIM_DEVICE ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev);
}

/* Binding a context to some of the multiprocessors needs MPS. */
static CUresult check_affinity(const CUexecAffinityParam *parameters, int count)
{
    if (count < 0 || (count > 0 && parameters == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    return count == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                        CUdevice dev)
{
    const CUresult result = check_affinity(paramsArray, numParams);
    return result == CUDA_SUCCESS ? create(pctx, flags, dev) : result;
}

#if CUDA_VERSION >= 12050
CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
    CUresult result = CUDA_SUCCESS;
    if (ctxCreateParams != NULL)
        result = check_affinity(ctxCreateParams->execAffinityParams, ctxCreateParams->numExecAffinityParams);
    if (result == CUDA_SUCCESS && ctxCreateParams != NULL && ctxCreateParams->cigParams != NULL)
        result = CUDA_ERROR_NOT_SUPPORTED; /* graphics interop */
    return result == CUDA_SUCCESS ? create(pctx, flags, dev) : result;
}
#endif

/* Also pops the context if it is current for the calling thread. */
static CUresult finish(struct sim_context *context)
{
    if (!sim_object_withdraw(context, SIM_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (sim_context_current() == context)
        (void)sim_context_pop();
    sim_context_end(context);
    sim_object_release(context);
    return CUDA_SUCCESS;
}

/* The program may destroy neither the primary context nor the context of a green context. */
static bool is_own(const struct sim_context *context)
{
    return context != NULL && context->primary == NULL && !sim_is_primary(context);
}

static CUresult destroy(CUcontext ctx)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (ctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_context *context = sim_object_find(ctx, SIM_CONTEXT);
    return is_own(context) ? finish(context) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxDestroy(CUcontext ctx)
{
    return destroy(ctx);
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
    return destroy(ctx);
}

CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags)
{
    struct sim_context *context;
    if (pctx == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    atomic_fetch_add(&context->uses, 1);
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

/* The last detach ends the context. The primary context begins with one use, and its uses are only counted.
 */
CUresult cuCtxDetach(CUcontext ctx)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = sim_object_find(ctx, SIM_CONTEXT);
    if (context == NULL || (!is_own(context) && atomic_load(&context->uses) == 1))
        return CUDA_ERROR_INVALID_CONTEXT;
    return atomic_fetch_sub(&context->uses, 1) == 1 ? finish(context) : CUDA_SUCCESS;
}
