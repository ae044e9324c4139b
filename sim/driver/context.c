#include "context.h"

#include "device.h"
#include "memory.h"
#include "module.h"
#include "state.h"
#include "stream.h"
#include "thread.h"

#include <stdlib.h>

/* There is one device, so one primary context. Its handle is the same however often it ends and begins. */
static struct {
    pthread_mutex_t lock;
    struct sim_context *context;
    unsigned retained;
} primary = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_ullong next_id = 1;
static struct sim_fault process_fault;

static void set_defaults(struct sim_context *context)
{
    static const size_t limits[SIM_LIMITS] = {1024, 1u << 20, 8u << 20, 2, 2048, 64, 0, 0};
    for (size_t i = 0; i < SIM_LIMITS; i++)
        atomic_store(&context->limits[i], limits[i]);
    atomic_store(&context->cache_config, CU_FUNC_CACHE_PREFER_NONE);
    atomic_store(&context->shared_config, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE);
    atomic_store(&context->own.error, CUDA_SUCCESS);
    atomic_store(&context->own.cancel, false);
    context->fault = sim_environment()->faults_end_contexts ? &context->own : &process_fault;
}

static void dispose(struct sim_object *object)
{
    struct sim_context *context = (struct sim_context *)object;
    pthread_mutex_destroy(&context->order);
    free(context);
}

static struct sim_context *make(unsigned flags)
{
    struct sim_context *context = calloc(1, sizeof(*context));
    if (context == NULL)
        return NULL;
    sim_object_init(&context->object, SIM_CONTEXT, NULL, dispose);
    pthread_mutex_init(&context->order, NULL);
    context->id = atomic_fetch_add(&next_id, 1);
    context->api_version = 3020;
    atomic_store(&context->flags, flags);
    set_defaults(context);
    return context;
}

/* Everything a context owned goes with it. Queued work is waited for, as cuCtxDestroy does. */
static void end(struct sim_context *context)
{
    (void)sim_context_synchronize(context);
    atomic_store(&context->ended, true);
    struct sim_object *object;
    while ((object = sim_object_withdraw_any(SIM_STREAM, context)) != NULL)
        sim_stream_close((struct sim_stream *)object);
    struct sim_stream *legacy = context->legacy;
    context->legacy = NULL;
    sim_stream_close(legacy);
    while ((object = sim_object_withdraw_any(SIM_EVENT, context)) != NULL)
        sim_object_release(object);
    while ((object = sim_object_withdraw_any(SIM_MODULE, context)) != NULL)
        sim_module_close((struct sim_module *)object);
    sim_library_forget_context(context);
    sim_memory_free_context(context);
}

static CUresult begin(struct sim_context *context)
{
    set_defaults(context);
    atomic_store(&context->ended, false);
    context->legacy = sim_stream_make(context, CU_STREAM_DEFAULT, 0);
    return context->legacy == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

bool sim_context_start(void)
{
    if (!sim_thread_start() || !sim_memory_start())
        return false;
    primary.context = make(CU_CTX_SCHED_AUTO);
    if (primary.context == NULL)
        return false;
    atomic_store(&primary.context->ended, true);
    return sim_object_publish(primary.context);
}

struct sim_context *sim_context_current(void)
{
    const struct sim_thread *self = sim_thread_self();
    return self == NULL || self->depth == 0 ? NULL : self->stack[self->depth - 1];
}

void sim_context_fault(struct sim_context *context, CUresult error)
{
    int none = CUDA_SUCCESS;
    if (atomic_compare_exchange_strong(&context->fault->error, &none, (int)error))
        atomic_store(&context->fault->cancel, true); /* a fault ends everything that runs */
}

CUresult sim_context_error(const struct sim_context *context)
{
    return (CUresult)atomic_load_explicit(&context->fault->error, memory_order_acquire);
}

const atomic_bool *sim_context_cancel(const struct sim_context *context)
{
    return &context->fault->cancel;
}

/* No context can be begun after a fault. */
static CUresult process_error(void)
{
    return (CUresult)atomic_load_explicit(&process_fault.error, memory_order_acquire);
}

static CUresult usable(struct sim_context *context)
{
    if (atomic_load_explicit(&context->ended, memory_order_acquire))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return sim_context_error(context);
}

CUresult sim_enter(struct sim_context **context)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    *context = sim_context_current();
    return *context == NULL ? CUDA_ERROR_INVALID_CONTEXT : usable(*context);
}

CUresult sim_enter_faulted(CUcontext handle, struct sim_context **context)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    *context = handle == NULL ? sim_context_current() : sim_object_find(handle, SIM_CONTEXT);
    if (*context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    return atomic_load_explicit(&(*context)->ended, memory_order_acquire) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                                          : CUDA_SUCCESS;
}

CUresult sim_enter_with(CUcontext handle, struct sim_context **context)
{
    const CUresult result = sim_enter_faulted(handle, context);
    return result == CUDA_SUCCESS ? sim_context_error(*context) : result;
}

CUresult sim_context_synchronize(struct sim_context *context)
{
    sim_stream_wait_all(context);
    return sim_context_error(context);
}

static CUresult push(struct sim_context *context)
{
    struct sim_thread *self = sim_thread_self();
    if (self == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (self->depth == self->capacity) {
        const size_t capacity = self->capacity == 0 ? 8 : self->capacity * 2;
        struct sim_context **stack = realloc(self->stack, capacity * sizeof(*stack));
        if (stack == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        self->stack = stack;
        self->capacity = capacity;
    }
    self->stack[self->depth++] = sim_object_retain(context);
    return CUDA_SUCCESS;
}

static struct sim_context *pop(void)
{
    struct sim_thread *self = sim_thread_self();
    if (self == NULL || self->depth == 0)
        return NULL;
    struct sim_context *context = self->stack[--self->depth];
    sim_object_release(context); /* the set of handles, or the caller, still holds it */
    return context;
}

static CUresult create(CUcontext *pctx, unsigned flags, CUdevice dev)
{
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (pctx == NULL || (flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (dev != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    if (process_error() != CUDA_SUCCESS)
        return process_error();
    struct sim_context *context = make(flags);
    if (context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = begin(context);
    if (result == CUDA_SUCCESS)
        result = sim_object_publish(context) ? push(context) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        (void)sim_object_withdraw(context, SIM_CONTEXT);
        sim_object_release(context);
        return result;
    }
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev);
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev);
}

CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                        CUdevice dev)
{
    if (paramsArray != NULL && numParams != 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create(pctx, flags, dev);
}

CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
    if (ctxCreateParams != NULL && ctxCreateParams->numExecAffinityParams != 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    if (ctxCreateParams != NULL && ctxCreateParams->cigParams != NULL)
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(pctx, flags, dev);
}

static CUresult destroy(CUcontext ctx)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (ctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_context *context = sim_object_find(ctx, SIM_CONTEXT);
    if (context == NULL || context == primary.context || !sim_object_withdraw(context, SIM_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (sim_context_current() == context)
        (void)pop();
    end(context);
    sim_object_release(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext ctx)
{
    return destroy(ctx);
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
    return destroy(ctx);
}

static CUresult push_current(CUcontext ctx)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = sim_object_find(ctx, SIM_CONTEXT);
    return context == NULL ? CUDA_ERROR_INVALID_CONTEXT : push(context);
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
    return push_current(ctx);
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
    return push_current(ctx);
}

static CUresult pop_current(CUcontext *pctx)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = pop();
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx != NULL)
        *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *pctx)
{
    return pop_current(pctx);
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx)
{
    return pop_current(pctx);
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = sim_object_find(ctx, SIM_CONTEXT);
    if (ctx != NULL && context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    (void)pop();
    return context == NULL ? CUDA_SUCCESS : push(context);
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (pctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = (CUcontext)sim_context_current();
    return CUDA_SUCCESS;
}

static CUresult check_device(CUdevice dev)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    return dev == SIM_DEVICE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    CUresult result = check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    if (pctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (process_error() != CUDA_SUCCESS)
        return process_error();
    pthread_mutex_lock(&primary.lock);
    if (atomic_load(&primary.context->ended))
        result = begin(primary.context);
    if (result == CUDA_SUCCESS) {
        primary.retained++;
        *pctx = (CUcontext)primary.context;
    }
    pthread_mutex_unlock(&primary.lock);
    return result;
}

static CUresult primary_release(CUdevice dev)
{
    CUresult result = check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&primary.lock);
    if (primary.retained == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (--primary.retained == 0)
        end(primary.context);
    pthread_mutex_unlock(&primary.lock);
    return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return primary_release(dev);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    return primary_release(dev);
}

static CUresult primary_reset(CUdevice dev)
{
    const CUresult result = check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&primary.lock);
    if (!atomic_load(&primary.context->ended))
        end(primary.context);
    primary.retained = 0;
    pthread_mutex_unlock(&primary.lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
    return primary_reset(dev);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    return primary_reset(dev);
}

static CUresult primary_set_flags(CUdevice dev, unsigned flags)
{
    const CUresult result = check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    atomic_store(&primary.context->flags, flags);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    return primary_set_flags(dev, flags);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    return primary_set_flags(dev, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    const CUresult result = check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags == NULL || active == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = atomic_load(&primary.context->flags);
    *active = !atomic_load(&primary.context->ended);
    return CUDA_SUCCESS;
}
