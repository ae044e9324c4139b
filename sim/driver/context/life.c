#include "driver/context/life.h"

#include "driver/code/module.h"
#include "driver/graph/memory.h"
#include "driver/memory/memory.h"
#include "driver/stream/stream.h"

CUresult sim_context_begin(struct sim_context *context)
{
    sim_limits_reset(context);
    atomic_store(&context->cache_config, CU_FUNC_CACHE_PREFER_NONE);
    sim_context_clear_fault(context);
    atomic_store(&context->ended, false);
    context->legacy = sim_stream_make(context, CU_STREAM_DEFAULT, 0);
    return context->legacy == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

void sim_context_end(struct sim_context *context)
{
    (void)sim_context_synchronize(context);
    atomic_store(&context->ended, true);
    sim_object_end_all(context);
    struct sim_stream *legacy = context->legacy;
    struct sim_stream *gate = context->gate;
    context->legacy = NULL;
    context->gate = NULL;
    sim_stream_close(legacy);
    sim_object_release(gate);
    sim_library_forget_context(context);
    sim_memory_free_context(context);
    sim_graph_memory_free_context(context);
}
