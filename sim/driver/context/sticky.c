/* The sticky error. */
#include "driver/context/context.h"
#include "driver/core/log.h"
#include "driver/core/state.h"

static struct sim_fault process_fault;

/* A green context shares the fault of its primary context. */
static struct sim_fault *fault_of(const struct sim_context *context)
{
    return context->primary == NULL ? context->fault : context->primary->fault;
}

void sim_context_clear_fault(struct sim_context *context)
{
    atomic_store(&context->own.error, CUDA_SUCCESS);
    atomic_store(&context->own.cancel, false);
    context->fault = sim_environment()->faults_end_contexts ? &context->own : &process_fault;
}

void sim_context_set_fault(struct sim_context *context, CUresult error)
{
    int none = CUDA_SUCCESS;
    const char *name = NULL;
    if (!atomic_compare_exchange_strong(&fault_of(context)->error, &none, (int)error))
        return;
    atomic_store(&fault_of(context)->cancel, true); /* a fault stops all running kernels */
    (void)cuGetErrorName(error, &name);
    sim_log_error("Context %llu failed with %d (%s): a kernel or a copy faulted", context->id, (int)error,
                  name == NULL ? "unknown" : name);
}

CUresult sim_context_error(const struct sim_context *context)
{
    return (CUresult)atomic_load_explicit(&fault_of(context)->error, memory_order_acquire);
}

const atomic_bool *sim_context_cancel_flag(const struct sim_context *context)
{
    return &fault_of(context)->cancel;
}

CUresult sim_process_error(void)
{
    return (CUresult)atomic_load_explicit(&process_fault.error, memory_order_acquire);
}
