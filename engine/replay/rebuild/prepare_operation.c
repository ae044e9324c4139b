/* One recorded operation as the arguments of a driver call. */
#include <stdio.h>
#include <string.h>

#include "core/wire/record.h"
#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/host_reads.h"
#include "replay/rebuild/memory.h"
#include "replay/rebuild/operations.h"

_Static_assert(sizeof(struct nb_attribute) == sizeof(CUlaunchAttribute), "record.h keeps what cuda.h has");

enum fate { TAKEN, LEFT, REFUSED };

/* Numeric attributes are kept; events and nodes were handles of the recorded process. */
static enum fate fate_of(uint32_t attribute)
{
    switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case 11: /* CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, from 12.8 */
    case 14: /* CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT */
    case 16: /* CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, from 13.0 */
        return TAKEN;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: /* how a host thread waits */
        return LEFT;
    default:
        return REFUSED;
    }
}

/* Attributes that strict drops: a persisting part of L2, and a launch that may begin before earlier queued
 * work has ended, unless that work is the region's own. */
static bool is_dropped(struct nb_replay *replay, uint32_t copy, uint32_t index,
                       const CUlaunchAttribute *attribute)
{
    struct nb_operations *operations = &replay->operations;
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    if (replay->options.strict == 0)
        return false;
    const bool window = attribute->id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
    const bool start = attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                       operation->graph == 0 && !operations->begun[operation->stream];
    operations->dropped_windows += copy == 0 && window;
    operations->dropped_starts += copy == 0 && start;
    return window || start;
}

static int collect_attributes(struct nb_replay *replay, uint32_t copy, uint32_t index,
                              CUlaunchAttribute *into, unsigned *count)
{
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    const struct nb_span span = operation->as.launch.attributes;
    bool cooperative = (operation->flags & NB_OPERATION_COOPERATIVE) == 0;
    CUlaunchAttribute attribute;
    *count = 0;
    for (uint64_t at = 0; at + sizeof attribute <= span.bytes; at += sizeof attribute) {
        memcpy(&attribute, replay->reader.data + span.offset + at, sizeof attribute);
        const enum fate fate = fate_of((uint32_t)attribute.id);
        if (fate == REFUSED)
            return nb_fail(replay, NB_REPLAY_CANNOT,
                           "operation %u: launch attribute %u refers to an object of the recorded process",
                           index, (unsigned)attribute.id);
        if (fate == LEFT || is_dropped(replay, copy, index, &attribute))
            continue;
        cooperative |= attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        into[(*count)++] = attribute;
    }
    if (!cooperative)
        into[(*count)++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    return NB_REPLAY_OK;
}

int nb_launch_prepare(struct nb_replay *replay, uint32_t copy, uint32_t index, struct nb_launch_call *call)
{
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    const struct nb_code_kernel *kernel = &replay->code.copies[copy].kernels[operation->as.launch.kernel];
    const struct nb_operations *operations = &replay->operations;
    const struct nb_program *program = &operations->programs[copy];
    CUlaunchAttribute *attributes = &program->attributes[operations->attribute_places[index]];
    *call = (struct nb_launch_call){
        .config =
            {
                .gridDimX = operation->as.launch.grid[0],
                .gridDimY = operation->as.launch.grid[1],
                .gridDimZ = operation->as.launch.grid[2],
                .blockDimX = operation->as.launch.block[0],
                .blockDimY = operation->as.launch.block[1],
                .blockDimZ = operation->as.launch.block[2],
                .sharedMemBytes = operation->as.launch.shared_bytes,
                .attrs = attributes,
            },
        .function = kernel->function,
        .parameters = program->parameters + operations->places[index],
        .parameter_bytes = (size_t)operation->as.launch.parameters.bytes,
        .settings = kernel->shared,
    };
    return collect_attributes(replay, copy, index, attributes, &call->config.numAttrs);
}

/* The present address for a recorded one: globals have moved, allocations have not. */
static int translate(struct nb_replay *replay, uint32_t copy, uint32_t index, uint64_t address,
                     CUdeviceptr *here)
{
    *here = nb_globals_at(replay, copy, address, 1);
    if (*here == 0 && nb_memory_at(replay, 0, address, 1) != 0)
        *here = address;
    if (*here != 0)
        return NB_REPLAY_OK;
    return nb_fail(replay, NB_REPLAY_BAD_CAPTURE, "operation %u: 0x%llx is in no allocation and no global",
                   index, (unsigned long long)address);
}

/* cuda.h counts the distance between slices in rows instead of bytes. */
static int rows_of(struct nb_replay *replay, uint32_t index, uint64_t pitch, uint64_t slice, size_t *rows)
{
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    *rows = (size_t)operation->as.copy.height;
    if (operation->as.copy.depth == 1)
        return NB_REPLAY_OK;
    if (pitch == 0 || slice % pitch != 0)
        return nb_fail(replay, NB_REPLAY_CANNOT, "operation %u: slices of %llu bytes with rows of %llu",
                       index, (unsigned long long)slice, (unsigned long long)pitch);
    *rows = (size_t)(slice / pitch);
    return NB_REPLAY_OK;
}

/* The recorded host memory is replaced by pinned memory of the engine's, into which the copy does not make
 * the host wait. */
static int prepare_read(struct nb_replay *replay, uint32_t copy, uint32_t index, CUDA_MEMCPY3D *call)
{
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    const size_t width = (size_t)operation->as.read.width, height = (size_t)operation->as.read.height;
    *call = (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcPitch = operation->as.read.source_pitch == 0 ? width : (size_t)operation->as.read.source_pitch,
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost = nb_host_reads_place(replay, index),
        .dstPitch = width,
        .dstHeight = height,
        .WidthInBytes = width,
        .Height = height,
        .Depth = (size_t)operation->as.read.depth,
    };
    NB_TRY(rows_of(replay, index, call->srcPitch, operation->as.read.source_slice, &call->srcHeight));
    return translate(replay, copy, index, operation->as.read.source, &call->srcDevice);
}

int nb_copy_prepare(struct nb_replay *replay, uint32_t copy, uint32_t index, CUDA_MEMCPY3D *call)
{
    if (replay->reader.operations[index].kind == NB_OPERATION_MEMCPY_DTOH)
        return prepare_read(replay, copy, index, call);
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    const bool upload = operation->kind == NB_OPERATION_MEMCPY_HTOD;
    const uint64_t width = operation->as.copy.width;
    const uint64_t to = operation->as.copy.destination_pitch, from = operation->as.copy.source_pitch;
    *call = (CUDA_MEMCPY3D){
        .srcMemoryType = upload ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .srcPitch = (size_t)(upload || from == 0 ? width : from),
        .srcHeight = (size_t)operation->as.copy.height,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstPitch = (size_t)(to == 0 ? width : to),
        .WidthInBytes = (size_t)width,
        .Height = (size_t)operation->as.copy.height,
        .Depth = (size_t)operation->as.copy.depth,
    };
    if (upload) {
        call->srcHost = replay->operations.uploads + replay->operations.places[index];
    } else {
        NB_TRY(translate(replay, copy, index, operation->as.copy.source, &call->srcDevice));
        NB_TRY(rows_of(replay, index, call->srcPitch, operation->as.copy.source_slice, &call->srcHeight));
    }
    NB_TRY(rows_of(replay, index, call->dstPitch, operation->as.copy.destination_slice, &call->dstHeight));
    return translate(replay, copy, index, operation->as.copy.destination, &call->dstDevice);
}

int nb_set_prepare(struct nb_replay *replay, uint32_t copy, uint32_t index, CUdeviceptr *address)
{
    return translate(replay, copy, index, replay->reader.operations[index].as.set.address, address);
}

bool nb_operation_is_empty(const struct nb_capture_operation *operation)
{
    switch (operation->kind) {
    case NB_OPERATION_MEMSET:
        return operation->as.set.width == 0 || operation->as.set.height == 0;
    case NB_OPERATION_MEMCPY:
    case NB_OPERATION_MEMCPY_HTOD:
        return operation->as.copy.width == 0 || operation->as.copy.height == 0 ||
               operation->as.copy.depth == 0;
    case NB_OPERATION_MEMCPY_DTOH:
        return !nb_is_host_read(operation);
    default:
        return operation->kind == NB_OPERATION_EMPTY;
    }
}

void nb_operation_text(const struct nb_replay *replay, uint32_t index, char *into, size_t room)
{
    static const char *const names[] = {
        [NB_OPERATION_KERNEL] = "kernel",
        [NB_OPERATION_MEMSET] = "memset",
        [NB_OPERATION_MEMCPY] = "copy",
        [NB_OPERATION_MEMCPY_HTOD] = "upload",
        [NB_OPERATION_EVENT_RECORD] = "event record",
        [NB_OPERATION_EVENT_WAIT] = "event wait",
        [NB_OPERATION_SYNCHRONIZE] = "join",
        [NB_OPERATION_GRAPH_LAUNCH] = "graph",
        [NB_OPERATION_EMPTY] = "empty node",
        [NB_OPERATION_MEMCPY_DTOH] = "copy to the host by",
    };
    const struct nb_capture_operation *operation = &replay->reader.operations[index];
    char name[128] = "";
    if (operation->kind == NB_OPERATION_KERNEL)
        nb_reader_text(&replay->reader, replay->reader.kernels[operation->as.launch.kernel].name, name,
                       sizeof name);
    if (operation->kind == NB_OPERATION_MEMCPY_DTOH)
        nb_reader_text(&replay->reader, operation->as.read.call, name, sizeof name);
    if (operation->kind == NB_OPERATION_GRAPH_LAUNCH)
        snprintf(name, sizeof name, "%u", operation->as.graph.graph);
    const char *kind = operation->kind < sizeof names / sizeof names[0] && names[operation->kind] != NULL
                           ? names[operation->kind]
                           : "operation";
    snprintf(into, room, "operation %u (%s%s%s)", index, kind, name[0] != '\0' ? " " : "", name);
}
