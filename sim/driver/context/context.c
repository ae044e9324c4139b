#include "driver/context/context.h"

#include "driver/core/state.h"

#include <stdlib.h>

static atomic_ullong next_id = 1;

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
    sim_context_clear_fault(context);
    return context;
}

struct sim_context *sim_context_root(struct sim_context *context)
{
    return context->primary == NULL ? context : context->primary;
}

CUresult sim_context_check(const struct sim_context *context)
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
    return result == CUDA_SUCCESS ? sim_context_check(*context) : result;
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
