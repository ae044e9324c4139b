#include "replay/rebuild/operations.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/record.h"
#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/host_reads.h"
#include "replay/rebuild/streams.h"

/* ---- places of what operations carry ------------------------------------------------------------------- */

static int find_places(struct nb_replay *replay)
{
    struct nb_operations *operations = &replay->operations;
    const uint32_t count = replay->reader.operation_count;
    operations->places = nb_new(replay, count, sizeof *operations->places);
    operations->attribute_places = nb_new(replay, count, sizeof *operations->attribute_places);
    if (count != 0 && (operations->places == NULL || operations->attribute_places == NULL))
        return NB_REPLAY_CANNOT;
    for (uint32_t i = 0; i < count; i++) {
        const struct nb_capture_operation *operation = &replay->reader.operations[i];
        if (operation->kind == NB_OPERATION_KERNEL) {
            operations->places[i] = operations->parameter_bytes;
            operations->parameter_bytes += (operation->as.launch.parameters.bytes + 15) & ~UINT64_C(15);
            operations->attribute_places[i] = operations->attribute_count;
            operations->attribute_count +=
                operation->as.launch.attributes.bytes / sizeof(struct nb_attribute) + 1;
        } else if (operation->kind == NB_OPERATION_MEMCPY_HTOD) {
            operations->places[i] = operations->upload_bytes;
            operations->upload_bytes += (operation->as.copy.content.bytes + 255) & ~UINT64_C(255);
        }
    }
    return NB_REPLAY_OK;
}

static int keep_uploads(struct nb_replay *replay)
{
    struct nb_operations *operations = &replay->operations;
    if (operations->upload_bytes == 0)
        return NB_REPLAY_OK;
    operations->uploads_kept = nb_new(replay, operations->upload_bytes, 1);
    if (operations->uploads_kept == NULL)
        return NB_REPLAY_CANNOT;
    NB_TRY(
        NB_CALL(replay, cuMemHostAlloc, (void **)&operations->uploads, (size_t)operations->upload_bytes, 0));
    for (uint32_t i = 0; i < replay->reader.operation_count; i++) {
        const struct nb_capture_operation *operation = &replay->reader.operations[i];
        if (operation->kind == NB_OPERATION_MEMCPY_HTOD && operation->as.copy.content.bytes != 0)
            memcpy(operations->uploads_kept + operations->places[i],
                   nb_reader_content(&replay->reader, operation->as.copy.content),
                   (size_t)operation->as.copy.content.bytes);
    }
    nb_operations_forget(replay);
    return NB_REPLAY_OK;
}

void nb_operations_forget(struct nb_replay *replay)
{
    const struct nb_operations *operations = &replay->operations;
    if (operations->upload_bytes != 0)
        memcpy(operations->uploads, operations->uploads_kept, (size_t)operations->upload_bytes);
}

/* The parameters of all launches, with the addresses that globals have in this copy of the code. */
static int keep_parameters(struct nb_replay *replay, uint32_t copy)
{
    const struct nb_operations *operations = &replay->operations;
    const struct nb_reader *reader = &replay->reader;
    struct nb_program *program = &operations->programs[copy];
    program->parameters = nb_new(replay, operations->parameter_bytes + 1, 1);
    program->attributes = nb_new(replay, operations->attribute_count + 1, sizeof *program->attributes);
    if (program->parameters == NULL || program->attributes == NULL)
        return NB_REPLAY_CANNOT;
    for (uint32_t i = 0; i < reader->operation_count; i++) {
        const struct nb_capture_operation *operation = &reader->operations[i];
        if (operation->kind == NB_OPERATION_KERNEL && operation->as.launch.parameters.bytes != 0)
            memcpy(program->parameters + operations->places[i],
                   reader->data + operation->as.launch.parameters.offset,
                   (size_t)operation->as.launch.parameters.bytes);
    }
    for (uint32_t i = 0; i < reader->relocation_count; i++) {
        const struct nb_capture_relocation *relocation = &reader->relocations[i];
        const uint64_t address =
            replay->code.copies[copy].globals[relocation->global].address + relocation->delta;
        memcpy(program->parameters + operations->places[relocation->operation] + relocation->offset, &address,
               sizeof address);
    }
    return NB_REPLAY_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static int prepare_step(struct nb_replay *replay, uint32_t copy, uint32_t index, struct nb_step *step)
{
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    const struct nb_streams *streams = &replay->streams;
    step->index = index;
    if (operation->stream < streams->count)
        step->stream = streams->streams[operation->stream].stream;
    if (nb_operation_is_empty(operation))
        return NB_REPLAY_OK;
    switch (operation->kind) {
    case NB_OPERATION_KERNEL:
        NB_TRY(nb_launch_prepare(replay, copy, index, &step->as.launch));
        step->as.launch.config.hStream = step->stream;
        replay->operations.begun[operation->stream] = true;
        return NB_REPLAY_OK;
    case NB_OPERATION_MEMSET:
        return nb_set_prepare(replay, copy, index, &step->as.set);
    case NB_OPERATION_MEMCPY:
    case NB_OPERATION_MEMCPY_HTOD:
    case NB_OPERATION_MEMCPY_DTOH:
        return nb_copy_prepare(replay, copy, index, &step->as.copy);
    case NB_OPERATION_EVENT_RECORD:
    case NB_OPERATION_EVENT_WAIT:
        step->as.event = streams->events[operation->as.event.event];
        return NB_REPLAY_OK;
    case NB_OPERATION_GRAPH_LAUNCH:
        step->as.graph = replay->operations.programs[copy].graphs[operation->as.graph.graph - 1].executable;
        return NB_REPLAY_OK;
    case NB_OPERATION_SYNCHRONIZE:
        return NB_REPLAY_OK;
    default:
        return nb_fail(replay, NB_REPLAY_CANNOT,
                       "operation %u is of kind %u, which this version cannot replay", index,
                       operation->kind);
    }
}

static void tell_dropped(struct nb_replay *replay)
{
    const struct nb_operations *operations = &replay->operations;
    if (operations->dropped_windows != 0)
        nb_note(replay, "access-policy windows of %u launches were left out: lines of L2 would persist",
                operations->dropped_windows);
    if (operations->dropped_starts != 0)
        nb_note(
            replay,
            "programmatic stream serialization of %u launches was left out: as the first of a stream they "
            "could begin before the start event",
            operations->dropped_starts);
}

static int build_program(struct nb_replay *replay, uint32_t copy)
{
    struct nb_program *program = &replay->operations.programs[copy];
    const uint32_t count = replay->reader.operation_count;
    NB_TRY(keep_parameters(replay, copy));
    NB_TRY(nb_graphs_build(replay, copy));
    program->steps = nb_new(replay, count, sizeof *program->steps);
    if (program->steps == NULL && count != 0)
        return NB_REPLAY_CANNOT;
    if (replay->streams.count != 0)
        memset(replay->operations.begun, 0, replay->streams.count);
    for (uint32_t i = 0; i < replay->streams.stop; i++)
        if (replay->reader.operations[i].graph == 0)
            NB_TRY(prepare_step(replay, copy, i, &program->steps[program->step_count++]));
    return NB_REPLAY_OK;
}

static uint32_t count_queued(const struct nb_replay *replay)
{
    uint32_t joins = 0, others = 2; /* the events */
    for (uint32_t i = 0; i < replay->streams.stop; i++) {
        if (replay->reader.operations[i].graph != 0)
            continue;
        if (replay->reader.operations[i].kind == NB_OPERATION_SYNCHRONIZE)
            joins++;
        else
            others++;
    }
    const uint32_t ordering = nb_streams_queued(replay, joins);
    return ordering > UINT32_MAX - others ? UINT32_MAX : ordering + others;
}

int nb_operations_build(struct nb_replay *replay)
{
    struct nb_operations *operations = &replay->operations;
    NB_TRY(find_places(replay));
    NB_TRY(keep_uploads(replay));
    NB_TRY(nb_host_reads_build(replay));
    operations->programs = nb_new(replay, replay->code.copy_count, sizeof *operations->programs);
    operations->begun = nb_new(replay, (uint64_t)replay->streams.count + 1, sizeof *operations->begun);
    if (operations->programs == NULL || operations->begun == NULL)
        return NB_REPLAY_CANNOT;
    operations->program_count = replay->code.copy_count;
    for (uint32_t copy = 0; copy < operations->program_count; copy++)
        NB_TRY(build_program(replay, copy));
    operations->queued = count_queued(replay);
    tell_dropped(replay);
    return NB_REPLAY_OK;
}

/* ---- running ------------------------------------------------------------------------------------------- */

static int launch(struct nb_replay *replay, const struct nb_step *step)
{
    const struct nb_launch_call *call = &step->as.launch;
    const struct nb_capture_operation *operation = &replay->reader.operations[step->index];
    size_t bytes = call->parameter_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, call->parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    if (call->settings)
        NB_TRY(nb_code_apply_settings(replay, call->function, operation->as.launch.kernel));
    return NB_CALL(replay, cuLaunchKernelEx, &call->config, call->function, NULL, bytes != 0 ? extra : NULL);
}

static int set(struct nb_replay *replay, const struct nb_step *step)
{
    const struct nb_capture_operation *operation = &replay->reader.operations[step->index];
    const struct nb_driver *driver = &replay->driver;
    const CUdeviceptr to = step->as.set;
    const size_t pitch = (size_t)operation->as.set.pitch;
    const size_t width = (size_t)operation->as.set.width, height = (size_t)operation->as.set.height;
    const uint32_t value = operation->as.set.value;
    const bool flat = height == 1;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (operation->as.set.element_bytes == 1)
        result =
            flat ? driver->cuMemsetD8Async(to, (unsigned char)value, width, step->stream)
                 : driver->cuMemsetD2D8Async(to, pitch, (unsigned char)value, width, height, step->stream);
    else if (operation->as.set.element_bytes == 2)
        result =
            flat ? driver->cuMemsetD16Async(to, (unsigned short)value, width, step->stream)
                 : driver->cuMemsetD2D16Async(to, pitch, (unsigned short)value, width, height, step->stream);
    else if (operation->as.set.element_bytes == 4)
        result = flat ? driver->cuMemsetD32Async(to, value, width, step->stream)
                      : driver->cuMemsetD2D32Async(to, pitch, value, width, height, step->stream);
    return nb_called(replay, result, "cuMemset");
}

static int copy(struct nb_replay *replay, const struct nb_step *step)
{
    const CUDA_MEMCPY3D *call = &step->as.copy;
    if (call->Height > 1 || call->Depth > 1)
        return NB_CALL(replay, cuMemcpy3DAsync_v2, call, step->stream);
    if (call->srcMemoryType == CU_MEMORYTYPE_HOST)
        return NB_CALL(replay, cuMemcpyHtoDAsync_v2, call->dstDevice, call->srcHost, call->WidthInBytes,
                       step->stream);
    if (call->dstMemoryType == CU_MEMORYTYPE_HOST)
        return NB_CALL(replay, cuMemcpyDtoHAsync_v2, call->dstHost, call->srcDevice, call->WidthInBytes,
                       step->stream);
    return NB_CALL(replay, cuMemcpyDtoDAsync_v2, call->dstDevice, call->srcDevice, call->WidthInBytes,
                   step->stream);
}

static int run(struct nb_replay *replay, const struct nb_step *step)
{
    const struct nb_capture_operation *operation = &replay->reader.operations[step->index];
    if (nb_operation_is_empty(operation))
        return NB_REPLAY_OK;
    switch (operation->kind) {
    case NB_OPERATION_KERNEL:
        return launch(replay, step);
    case NB_OPERATION_MEMSET:
        return set(replay, step);
    case NB_OPERATION_MEMCPY:
    case NB_OPERATION_MEMCPY_HTOD:
    case NB_OPERATION_MEMCPY_DTOH:
        return copy(replay, step);
    case NB_OPERATION_EVENT_RECORD:
        return NB_CALL(replay, cuEventRecord, step->as.event, step->stream);
    case NB_OPERATION_EVENT_WAIT:
        return NB_CALL(replay, cuStreamWaitEvent, step->stream, step->as.event, 0);
    case NB_OPERATION_GRAPH_LAUNCH:
        return NB_CALL(replay, cuGraphLaunch, step->as.graph, step->stream);
    default:
        return nb_streams_order(replay, operation->stream);
    }
}

/* Prefix the driver's error line with the operation. */
static int name_operation(struct nb_replay *replay, uint32_t index, int status)
{
    char line[NB_REPLAY_TEXT], operation[192];
    memcpy(line, replay->error, sizeof line);
    nb_operation_text(replay, index, operation, sizeof operation);
    return nb_fail(replay, status, "%s: %.300s", operation, line);
}

static int check_read(struct nb_replay *replay, uint32_t index)
{
    const int status = nb_host_reads_check(replay, index);
    return status == NB_REPLAY_OK ? status : name_operation(replay, index, status);
}

int nb_operations_check_reads(struct nb_replay *replay)
{
    for (uint32_t i = 0; i < replay->host_reads.count; i++)
        NB_TRY(check_read(replay, replay->host_reads.operations[i]));
    return NB_REPLAY_OK;
}

/* No kernel runs between the wait and the comparison. */
static int wait_and_check_read(struct nb_replay *replay, uint32_t index)
{
    for (uint32_t i = 0; i < replay->streams.count; i++)
        if (replay->streams.streams[i].used)
            NB_TRY(nb_wait(replay, replay->streams.streams[i].stream, replay->options.timeout_ms,
                           "the work up to a copy to the host"));
    return check_read(replay, index);
}

int nb_operations_run(struct nb_replay *replay, uint32_t copy_number, enum nb_pace pace)
{
    const struct nb_program *program = &replay->operations.programs[copy_number];
    for (uint32_t i = 0; i < program->step_count; i++) {
        const struct nb_step *step = &program->steps[i];
        int status = run(replay, step);
        if (status == NB_REPLAY_OK && pace == NB_PACE_STEPS)
            status = nb_wait(replay, step->stream, replay->options.timeout_ms, "it");
        if (status != NB_REPLAY_OK)
            return name_operation(replay, step->index, status);
        if (pace == NB_PACE_READS && nb_is_host_read(&replay->reader.operations[step->index]))
            NB_TRY(wait_and_check_read(replay, step->index));
    }
    return NB_REPLAY_OK;
}

void nb_operations_close(struct nb_replay *replay)
{
    struct nb_operations *operations = &replay->operations;
    for (uint32_t i = 0; i < operations->program_count; i++) {
        struct nb_program *program = &operations->programs[i];
        nb_graphs_close(replay, program);
        free(program->steps);
        free(program->parameters);
        free(program->attributes);
    }
    nb_host_reads_close(replay);
    if (operations->uploads != NULL && replay->gone == NB_REPLAY_OK)
        replay->driver.cuMemFreeHost(operations->uploads);
    free(operations->uploads_kept);
    free(operations->begun);
    free(operations->programs);
    free(operations->places);
    free(operations->attribute_places);
}
