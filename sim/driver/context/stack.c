/* Each thread has a stack of contexts. The top one is current. */
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/core/thread.h"

#include <stdlib.h>

struct sim_context *sim_context_current(void)
{
    const struct sim_thread *self = sim_thread_self();
    return self == NULL || self->depth == 0 ? NULL : self->stack[self->depth - 1];
}

CUresult sim_context_push(struct sim_context *context)
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

struct sim_context *sim_context_pop(void)
{
    struct sim_thread *self = sim_thread_self();
    if (self == NULL || self->depth == 0)
        return NULL;
    struct sim_context *context = self->stack[--self->depth];
    sim_object_release(context); /* the set of handles, or the caller, holds another reference */
    return context;
}

static CUresult push_current(CUcontext ctx)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = sim_object_find(ctx, SIM_CONTEXT);
    return context == NULL ? CUDA_ERROR_INVALID_CONTEXT : sim_context_push(context);
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
    struct sim_context *context = sim_context_pop();
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
    (void)sim_context_pop();
    return context == NULL ? CUDA_SUCCESS : sim_context_push(context);
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
