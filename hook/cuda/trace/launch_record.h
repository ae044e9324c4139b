/* The trace record of a launch, shared by all forms of launches.
 *
 * All of it is inlined into each form's hook, because launches are the most frequent calls. */
#ifndef NEUTRINO_CUDA_LAUNCH_RECORD_H
#define NEUTRINO_CUDA_LAUNCH_RECORD_H

#include <cuda.h>

#include "core/process/call.h"
#include "core/region/region.h"
#include "cuda/capture/launch.h"
#include "cuda/kernel/function.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/parameters.h"
#include "cuda/kernel/stream.h"
#include "cuda/time/launch_time.h"
#include "cuda/trace/launch_form.h"

NB_ALWAYS_INLINE uint32_t nb_launch_flags(const struct nb_call *call, const struct nb_launch_form *launch)
{
    uint32_t flags = launch->flags;
    if (launch->kernelParams == NULL && launch->extra != NULL)
        flags |= NB_LAUNCH_EXTRA;
    if (launch->attribute_count > NB_ATTRIBUTES_MAX)
        flags |= NB_LAUNCH_ATTRIBUTES_CUT;
    for (unsigned int i = 0; i < launch->attribute_count; i++)
        if (launch->attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
            launch->attributes[i].value.cooperative)
            flags |= NB_LAUNCH_COOPERATIVE;
    if (nb_stream_is_captured(call, launch->stream))
        flags |= NB_LAUNCH_CAPTURED;
    return flags;
}

NB_ALWAYS_INLINE void nb_launch_attributes(const struct nb_launch_form *launch, struct nb_attribute *into,
                                           uint32_t count)
{
    _Static_assert(sizeof launch->attributes->value == sizeof into->value,
                   "CUlaunchAttributeValue is 64 bytes");
    for (uint32_t i = 0; i < count; i++) {
        into[i].id = (uint32_t)launch->attributes[i].id;
        into[i].reserved = 0;
        memcpy(into[i].value, &launch->attributes[i].value, sizeof into[i].value);
    }
}

/* Append the launch's number, by which the record of its time names it. */
NB_ALWAYS_INLINE void nb_launch_number(struct nb_launch *record, const struct nb_event_pair *pair)
{
    const uint64_t number = nb_launch_time_number(pair);
    record->flags |= NB_LAUNCH_TIMED;
    memcpy((char *)record + record->record.size - sizeof number, &number, sizeof number);
}

/* Write the record into the ring before the driver call, while the parameters are unchanged; nb_launch_end
 * publishes it. NULL if this launch is not traced. */
NB_ALWAYS_INLINE struct nb_launch *nb_launch_record(const struct nb_call *call,
                                                    const struct nb_launch_form *launch, uint64_t begin,
                                                    const struct nb_event_pair *pair)
{
    static const struct nb_description unknown_kernel; /* kernel 0: the kernel's own record was lost */
    const struct nb_description *description = nb_find_description(launch->function);
    if (__builtin_expect(description == NULL, 0)) {
        description = nb_describe(call->thread, launch->function);
        begin = nb_clock(); /* the shim's own queries are not part of the launch */
        if (description == NULL)
            description = &unknown_kernel;
    }
    const struct nb_parameters parameters =
        nb_locate_parameters(description, launch->kernelParams, launch->extra);
    const uint32_t attributes =
        launch->attribute_count < NB_ATTRIBUTES_MAX ? launch->attribute_count : NB_ATTRIBUTES_MAX;
    const size_t attribute_bytes = attributes * sizeof(struct nb_attribute);
    const size_t number_bytes = __builtin_expect(pair != NULL, 0) ? sizeof(uint64_t) : 0;
    const size_t size =
        ((sizeof(struct nb_launch) + attribute_bytes + parameters.kept_bytes + 7) & ~(size_t)7) +
        number_bytes;
    struct nb_launch *record = nb_ring_reserve(call->thread, size);
    if (record == NULL)
        return NULL;
    record->record.size = (uint32_t)size;
    record->record.kind = NB_RECORD_LAUNCH;
    record->record.slot = (uint16_t)call->slot;
    record->record.begin = begin;
    record->record.count = attributes;
    record->kernel = description->number;
    record->stream = nb_handle(launch->stream);
    memcpy(record->grid, launch->grid, sizeof record->grid);
    memcpy(record->block, launch->block, sizeof record->block);
    record->shared_bytes = launch->shared_bytes;
    record->flags = nb_launch_flags(call, launch);
    record->parameter_bytes = parameters.bytes;
    record->kept_bytes = parameters.kept_bytes;
    nb_launch_attributes(launch, (struct nb_attribute *)(record + 1), attributes);
    nb_copy_parameters(&parameters, description, (unsigned char *)(record + 1) + attribute_bytes);
    if (__builtin_expect(pair != NULL, 0))
        nb_launch_number(record, pair);
    return record;
}

/* A launch that is inside the driver. */
struct nb_launch_under_way {
    struct nb_launch *record;
    struct nb_capture_launch *kept; /* for the capture */
    struct nb_event_pair *pair;     /* for the GPU's time */
    uint64_t kernel;                /* the number of the timed kernel */
};

/* Call before the driver: prepare the trace record and the captured launch. */
NB_ALWAYS_INLINE struct nb_launch_under_way nb_launch_begin(const struct nb_call *call,
                                                            const struct nb_launch_form *launch)
{
    struct nb_launch_under_way under_way = {NULL, NULL, NULL, 0};
    if (call->thread == NULL)
        return under_way;
    uint64_t begin = call->begin;
    if (nb_capture_enabled()) {
        const struct nb_launch_form copy =
            *launch; /* without the copy, every launch would be in memory instead of registers */
        under_way.kept = nb_capture_begin_launch(call, &copy);
        begin = nb_clock(); /* capturing is not part of the launch */
    }
    if (nb_timing_launches()) {
        const struct nb_launch_form copy = *launch; /* likewise */
        under_way.pair = nb_launch_time_begin(call, copy.stream);
        begin = nb_clock(); /* the start event is not part of the launch */
    }
    under_way.record = nb_launch_record(call, launch, begin, under_way.pair);
    if (under_way.record != NULL)
        under_way.kernel = under_way.record->kernel;
    return under_way;
}

/* Publish the record. */
NB_ALWAYS_INLINE void nb_launch_commit(const struct nb_call *call, struct nb_launch *record, CUresult result,
                                       uint64_t end)
{
    if (record == NULL)
        return;
    record->record.end = end;
    record->record.result = (int32_t)result;
    nb_ring_commit(call->thread, record->record.size);
}

NB_ALWAYS_INLINE CUresult nb_launch_end(const struct nb_call *call, struct nb_launch_under_way under_way,
                                        CUresult result)
{
    if (call->thread == NULL)
        return result;
    const uint64_t end = nb_clock();
    nb_launch_commit(call, under_way.record, result, end);
    if (__builtin_expect(under_way.pair != NULL, 0))
        nb_launch_time_end(call, under_way.pair, result, under_way.kernel, 0);
    if (__builtin_expect(under_way.kept != NULL, 0))
        nb_capture_end_launch(call, under_way.kept, result);
    nb_call_leave(call, end);
    return result;
}

/* One call that makes several launches. The launches share the call's times and result, so each record is
 * written after the driver has returned; only one record could be reserved across the call. A region
 * counts the first launch only. */
NB_ALWAYS_INLINE struct nb_launch_under_way nb_launch_several_begin(const struct nb_call *call,
                                                                    const struct nb_launch_form *first)
{
    struct nb_launch_under_way under_way = {NULL, NULL, NULL, 0};
    if (nb_capture_enabled())
        under_way.kept = nb_capture_begin_launch(call, first);
    return under_way;
}

NB_ALWAYS_INLINE void nb_launch_several_add(const struct nb_call *call, const struct nb_launch_form *launch,
                                            CUresult result)
{
    nb_launch_commit(call, nb_launch_record(call, launch, call->begin, NULL), result, nb_clock());
}

#endif
