#include "driver/context/context.h"

#include "driver/memory/memory.h"
#include "driver/code/module.h"
#include "driver/core/state.h"
#include "driver/stream/stream.h"
#include "driver/core/thread.h"

#include <stdlib.h>

static atomic_ullong next_id = 1;

static void set_defaults(struct sim_context *context)
{
    sim_limits_reset(context);
    atomic_store(&context->cache_config, CU_FUNC_CACHE_PREFER_NONE);
    sim_context_clear_fault(context);
}

static void dispose(struct sim_object *object)
{
    struct sim_context *context = (struct sim_context *)object;
    pthread_mutex_destroy(&context->order);
    free(context);
}

struct sim_context *sim_context_make(unsigned flags)
{
    struct sim_context *context = calloc(1, sizeof(*context));
    if (context == NULL)
        return NULL;
    sim_object_init(&context->object, SIM_CONTEXT, NULL, dispose);
    pthread_mutex_init(&context->order, NULL);
    context->id = atomic_fetch_add(&next_id, 1);
    context->api_version = 3020;
    atomic_store(&context->flags, flags);
    atomic_store(&context->uses, 1);
    set_defaults(context);
    return context;
}

/* Everything a context owned goes with it. Queued work is waited for, as cuCtxDestroy does. */
void sim_context_end(struct sim_context *context)
{
    (void)sim_context_synchronize(context);
    atomic_store(&context->ended, true);
    struct sim_object *object;
    while ((object = sim_object_withdraw_any(SIM_STREAM, context)) != NULL)
        sim_stream_close((struct sim_stream *)object);
    struct sim_stream *legacy = context->legacy;
    struct sim_stream *gate = context->gate;
    context->legacy = NULL;
    context->gate = NULL;
    sim_stream_close(legacy);
    sim_object_release(gate);
    while ((object = sim_object_withdraw_any(SIM_EVENT, context)) != NULL)
        sim_object_release(object);
    while ((object = sim_object_withdraw_any(SIM_MODULE, context)) != NULL)
        sim_module_close((struct sim_module *)object);
    sim_library_forget_context(context);
    sim_memory_free_context(context);
}

CUresult sim_context_begin(struct sim_context *context)
{
    set_defaults(context);
    atomic_store(&context->ended, false);
    context->legacy = sim_stream_make(context, CU_STREAM_DEFAULT, 0);
    return context->legacy == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

bool sim_context_start(void)
{
    return sim_thread_start() && sim_memory_start() && sim_primary_start();
}

struct sim_context *sim_context_root(struct sim_context *context)
{
    return context->primary == NULL ? context : context->primary;
}

CUresult sim_context_usable(const struct sim_context *context)
{
    if (atomic_load_explicit(&context->ended, memory_order_acquire))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return sim_context_error(context);
}

CUresult sim_enter_any(struct sim_context **context)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    *context = sim_context_current();
    return *context == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult sim_enter(struct sim_context **context)
{
    const CUresult result = sim_enter_any(context);
    return result == CUDA_SUCCESS ? sim_context_usable(*context) : result;
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
