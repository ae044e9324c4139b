/* Launches on a stream's worker and in graphs. */
#include "driver/code/launch_log.h"
#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/context/fault.h"
#include "driver/core/state.h"
#include "driver/memory/kernel_heap.h"
#include "driver/memory/memory.h"
#include "driver/memory/page.h"
#include "driver/memory/texture.h"
#include "driver/stream/work.h"

#include <stdlib.h>
#include <string.h>

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
    case PTX_DEADLOCK: /* a GPU would wait until its watchdog, if there is one, ends the kernel */
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case PTX_OUT_OF_RESOURCES:
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    return CUDA_ERROR_UNKNOWN;
}

static void run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                struct sim_work *work)
{
    const struct sim_launch *launch = &work->launch;
    (void)stream, (void)number;
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
                   .image = sim_texture_find,
                   .context = context},
        .timeout_ns = sim_environment()->kernel_timeout_ns,
        .cancel = sim_context_cancel_flag(context),
        .workers = sim_environment()->workers,
        .counts = sim_counts_begin(launch)};
    sim_launch_log(launch);
    const CUresult result = result_of(ptx_run(&run, &diagnostic));
    sim_counts_end(launch, run.counts);
    if (result == CUDA_SUCCESS)
        return;
    sim_fault_report(launch->function->ptx, result, &diagnostic);
    sim_context_set_fault(context, result);
}

static CUresult clone_work(struct sim_work *copy, const struct sim_work *work, bool published)
{
    (void)published;
    const size_t bytes = ptx_kernel_parameter_bytes(work->launch.function->ptx);
    copy->launch.parameters = malloc(bytes + 1);
    if (copy->launch.parameters == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy->launch.parameters, work->launch.parameters, bytes);
    sim_object_retain(work->launch.function->module);
    return CUDA_SUCCESS;
}

static void clear(struct sim_work *work)
{
    sim_object_release(work->launch.function->module);
    free(work->launch.parameters);
}

const struct sim_work_class sim_launch_work = {.run = run, .clone = clone_work, .clear = clear};
