#include "driver/stream/work.h"

#include "driver/context/context.h"

static const struct sim_work_class none;

static const struct sim_work_class *const classes[SIM_WORK_KINDS] = {
    [SIM_WORK_NONE] = &none,
    [SIM_WORK_LAUNCH] = &sim_launch_work,
    [SIM_WORK_COPY] = &sim_copy_work,
    [SIM_WORK_SET] = &sim_memset_work,
    [SIM_WORK_HOST] = &sim_host_work,
    [SIM_WORK_CALLBACK] = &sim_callback_work,
    [SIM_WORK_FREE] = &sim_free_work,
    [SIM_WORK_RECORD] = &sim_record_work,
    [SIM_WORK_WAIT] = &sim_wait_work,
    [SIM_WORK_VALUE_WRITE] = &sim_value_write_work,
    [SIM_WORK_VALUE_WAIT] = &sim_value_wait_work,
    [SIM_WORK_PLAN] = &sim_plan_work,
    [SIM_WORK_CHILD] = &sim_child_work,
    [SIM_WORK_BATCH] = &sim_batch_work,
    [SIM_WORK_CONDITION] = &sim_condition_work,
    [SIM_WORK_GRAPH_ALLOCATE] = &sim_graph_allocate_work,
    [SIM_WORK_GRAPH_FREE] = &sim_graph_free_work,
};

void sim_work_run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                  struct sim_work *work)
{
    const struct sim_work_class *class = classes[work->kind];
    if (class->run != NULL && (class->runs_after_fault || sim_context_error(context) == CUDA_SUCCESS))
        class->run(context, stream, number, work);
}

CUresult sim_work_clone(struct sim_work *copy, const struct sim_work *work, bool published)
{
    const struct sim_work_class *class = classes[work->kind];
    *copy = *work;
    return class->clone == NULL ? CUDA_SUCCESS : class->clone(copy, work, published);
}

void sim_work_clear(struct sim_work *work)
{
    const struct sim_work_class *class = classes[work->kind];
    if (class->clear != NULL)
        class->clear(work);
    work->kind = SIM_WORK_NONE;
}

void sim_work_place(const struct sim_work *work, struct sim_stream *stream, uint64_t number)
{
    const struct sim_work_class *class = classes[work->kind];
    if (class->place != NULL)
        class->place(work, stream, number);
}

CUresult sim_work_enter_graph(struct sim_work *work, const struct sim_graph *graph)
{
    const struct sim_work_class *class = classes[work->kind];
    return class->enter_graph == NULL ? CUDA_SUCCESS : class->enter_graph(work, graph);
}
