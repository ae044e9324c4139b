#include "driver/stream/work.h"

#include "driver/context/context.h"
#include "driver/copy/copy.h"
#include "driver/core/counter.h"
#include "driver/stream/event.h"
#include "driver/context/fault.h"
#include "driver/graph/graph.h"
#include "driver/graph/batch.h"
#include "driver/graph/condition.h"
#include "driver/graph/memory.h"
#include "driver/graph/plan.h"
#include "driver/memory/kernel_heap.h"
#include "driver/memory/memory.h"
#include "driver/memory/page.h"
#include "driver/code/module.h"
#include "driver/core/state.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static CUresult result_of(enum ptx_status status)
{
    switch (status) {
    case PTX_OK:
    case PTX_CANCELLED:
        return CUDA_SUCCESS;
    case PTX_ILLEGAL_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case PTX_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case PTX_TRAP:
        return CUDA_ERROR_LAUNCH_FAILED;
    case PTX_ASSERT:
        return CUDA_ERROR_ASSERT;
    case PTX_TIMEOUT:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case PTX_INVALID_PC:
        return CUDA_ERROR_INVALID_PC;
    case PTX_ILLEGAL_INSTRUCTION:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case PTX_DEADLOCK: /* a GPU would wait until its watchdog, if it has one, ends the kernel */
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case PTX_OUT_OF_RESOURCES:
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    return CUDA_ERROR_UNKNOWN;
}

static void run_launch(struct sim_context *context, const struct sim_launch *launch)
{
    struct ptx_diagnostic diagnostic = {0};
    const struct ptx_launch run = {
        .kernel = launch->function->ptx,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .shared_bytes = launch->shared_bytes,
        .cooperative = launch->cooperative,
        .parameters = launch->parameters,
        .memory = {.find = sim_environment()->exact_memory ? sim_memory_find : sim_memory_find_page,
                   .allocate = sim_kernel_heap_allocate,
                   .release = sim_kernel_heap_release,
                   .context = context},
        .timeout_ns = sim_environment()->kernel_timeout_ns,
        .cancel = sim_context_cancel(context),
        .workers = sim_environment()->workers};
    sim_count_launch(launch);
    const CUresult result = result_of(ptx_run(&run, &diagnostic));
    if (result == CUDA_SUCCESS)
        return;
    sim_fault_report(launch->function->ptx, result, &diagnostic);
    sim_context_fault(context, result);
}

static void fill_row(unsigned char *row, const struct sim_set *set)
{
    if (set->element_bytes == 1) {
        memset(row, (int)(set->value & 0xff), set->width);
        return;
    }
    for (size_t x = 0; x < set->width; x++)
        memcpy(row + x * set->element_bytes, &set->value, set->element_bytes);
}

static void run_set(struct sim_context *context, const struct sim_set *set)
{
    for (size_t y = 0; y < set->height; y++) {
        const uint64_t row = set->destination + y * set->pitch;
        if (!sim_range_accessible(row, set->width * set->element_bytes)) {
            sim_context_fault(context, CUDA_ERROR_ILLEGAL_ADDRESS);
            return;
        }
        fill_row((unsigned char *)(uintptr_t)row, set);
    }
}

static uint64_t read_value(uint64_t address, unsigned bytes)
{
    if (bytes == 4)
        return atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)address, memory_order_acquire);
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)address, memory_order_acquire);
}

static bool value_is_there(uint64_t found, uint64_t wanted, unsigned flags, unsigned bytes)
{
    switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic, as documented */
        return bytes == 4 ? (int32_t)((uint32_t)found - (uint32_t)wanted) >= 0
                          : (int64_t)(found - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & wanted) != 0;
    default:
        return bytes == 4 ? ~((uint32_t)found | (uint32_t)wanted) != 0 : ~(found | wanted) != 0;
    }
}

static void wait_value(struct sim_context *context, const struct sim_work *work)
{
    const struct timespec pause = {.tv_nsec = 20000};
    while (!value_is_there(read_value(work->value.address, work->value.bytes), work->value.value,
                           work->value.flags, work->value.bytes) &&
           sim_context_error(context) == CUDA_SUCCESS)
        nanosleep(&pause, NULL);
}

static void write_value(const struct sim_work *work)
{
    const uint64_t address = work->value.address;
    if (work->value.bytes == 4)
        atomic_store_explicit((_Atomic uint32_t *)(uintptr_t)address, (uint32_t)work->value.value,
                              memory_order_release);
    else
        atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)address, work->value.value,
                              memory_order_release);
}

/* After a fault nothing touches memory any more; events still happen and callbacks are told. */
static bool runs_after_fault(enum sim_work_kind kind)
{
    return kind == SIM_WORK_RECORD || kind == SIM_WORK_WAIT || kind == SIM_WORK_CALLBACK ||
           kind == SIM_WORK_FREE || kind == SIM_WORK_GRAPH_FREE;
}

void sim_work_run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                  struct sim_work *work)
{
    if (sim_context_error(context) != CUDA_SUCCESS && !runs_after_fault(work->kind))
        return;
    switch (work->kind) {
    case SIM_WORK_NONE:
        break;
    case SIM_WORK_LAUNCH:
        run_launch(context, &work->launch);
        break;
    case SIM_WORK_COPY:
        sim_copy_run(context, &work->copy);
        break;
    case SIM_WORK_SET:
        run_set(context, &work->set);
        break;
    case SIM_WORK_HOST:
        work->host.function(work->host.data);
        break;
    case SIM_WORK_CALLBACK:
        work->callback.function(work->callback.stream, sim_context_error(context), work->callback.data);
        break;
    case SIM_WORK_FREE:
        (void)sim_memory_free(work->freed,
                              1u << SIM_MEMORY_DEVICE | 1u << SIM_MEMORY_MANAGED | 1u << SIM_MEMORY_HOST);
        break;
    case SIM_WORK_RECORD:
        sim_event_happened(work->event, stream, number);
        break;
    case SIM_WORK_WAIT:
        if (work->wait.stream != NULL)
            sim_stream_wait(work->wait.stream, work->wait.number);
        else
            sim_event_wait(work->wait.event, stream);
        break;
    case SIM_WORK_VALUE_WRITE:
        write_value(work);
        break;
    case SIM_WORK_VALUE_WAIT:
        wait_value(context, work);
        break;
    case SIM_WORK_PLAN:
        sim_graph_plan_run(context, stream, number, work->plan);
        break;
    case SIM_WORK_CHILD: /* both are run by the plan */
    case SIM_WORK_CONDITION:
        break;
    case SIM_WORK_BATCH:
        sim_graph_batch_run(context, work->batch);
        break;
    case SIM_WORK_GRAPH_ALLOCATE:
        sim_graph_memory_begin(work->memory);
        break;
    case SIM_WORK_GRAPH_FREE:
        sim_graph_memory_end(work->memory);
        break;
    }
}

bool sim_work_clone(struct sim_work *copy, const struct sim_work *work)
{
    *copy = *work;
    switch (work->kind) {
    case SIM_WORK_LAUNCH: {
        const size_t bytes = ptx_kernel_parameter_bytes(work->launch.function->ptx);
        copy->launch.parameters = malloc(bytes + 1);
        if (copy->launch.parameters == NULL)
            return false;
        memcpy(copy->launch.parameters, work->launch.parameters, bytes);
        sim_object_retain(work->launch.function->module);
        return true;
    }
    case SIM_WORK_COPY:
        return sim_copy_clone(&copy->copy, &work->copy);
    case SIM_WORK_RECORD:
        sim_object_retain(work->event);
        return true;
    case SIM_WORK_WAIT:
        if (work->wait.stream != NULL)
            sim_object_retain(work->wait.stream);
        if (work->wait.event != NULL)
            sim_object_retain(work->wait.event);
        return true;
    case SIM_WORK_PLAN:
        sim_object_retain(work->plan);
        return true;
    case SIM_WORK_CHILD: /* graphs are cloned with their nodes */
    case SIM_WORK_CONDITION:
        return false;
    case SIM_WORK_BATCH:
        copy->batch = sim_graph_batch_clone(work->batch);
        return copy->batch != NULL;
    case SIM_WORK_GRAPH_ALLOCATE:
    case SIM_WORK_GRAPH_FREE:
        sim_object_retain(work->memory);
        return true;
    default:
        return true;
    }
}

void sim_work_clear(struct sim_work *work)
{
    switch (work->kind) {
    case SIM_WORK_LAUNCH:
        sim_object_release(work->launch.function->module);
        free(work->launch.parameters);
        break;
    case SIM_WORK_COPY:
        sim_copy_clear(&work->copy);
        break;
    case SIM_WORK_RECORD:
        sim_object_release(work->event);
        break;
    case SIM_WORK_WAIT:
        sim_object_release(work->wait.stream);
        sim_object_release(work->wait.event);
        break;
    case SIM_WORK_PLAN:
        sim_object_release(work->plan);
        break;
    case SIM_WORK_CHILD:
        sim_graph_close(work->child);
        break;
    case SIM_WORK_BATCH:
        free(work->batch);
        break;
    case SIM_WORK_CONDITION:
        sim_graph_condition_free(work->condition);
        break;
    case SIM_WORK_GRAPH_ALLOCATE:
    case SIM_WORK_GRAPH_FREE:
        sim_object_release(work->memory);
        break;
    default:
        break;
    }
    work->kind = SIM_WORK_NONE;
}
