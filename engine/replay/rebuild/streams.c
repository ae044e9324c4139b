#include <stdlib.h>

#include "replay/base/engine.h"
#include "replay/rebuild/streams.h"

/* Find the streams with operations, and the stream of the first operation. */
static void find_used(struct nb_replay *replay)
{
    struct nb_streams *streams = &replay->streams;
    for (uint32_t i = 0; i < replay->reader.operation_count; i++) {
        const struct nb_capture_operation *operation = &replay->reader.operations[i];
        if (operation->graph != 0 || operation->kind == NB_OPERATION_SYNCHRONIZE)
            continue;
        streams->stop = i + 1;
        if (streams->used_count == 0)
            streams->main = operation->stream;
        streams->used_count += !streams->streams[operation->stream].used;
        streams->streams[operation->stream].used = true;
    }
    streams->several = streams->used_count > 1;
}

static bool is_legacy(const struct nb_capture_stream *recorded)
{
    return recorded->kind == NB_CAPTURE_STREAM_LEGACY;
}

/* Streams that synchronise with the legacy default stream; per-thread streams do, too. */
static bool is_blocking(const struct nb_capture_stream *recorded)
{
    return recorded->kind == NB_CAPTURE_STREAM_PER_THREAD ||
           (recorded->kind == NB_CAPTURE_STREAM_CREATED && (recorded->flags & CU_STREAM_NON_BLOCKING) == 0);
}

static bool is_any_used(const struct nb_replay *replay, bool (*is)(const struct nb_capture_stream *))
{
    for (uint32_t i = 0; i < replay->streams.count; i++)
        if (replay->streams.streams[i].used && is(&replay->reader.streams[i]))
            return true;
    return false;
}

static int create_stream(struct nb_replay *replay, const struct nb_capture_stream *recorded,
                         struct nb_stream *stream)
{
    const bool created = recorded->kind == NB_CAPTURE_STREAM_CREATED;
    NB_TRY(NB_CALL(replay, cuStreamCreateWithPriority, &stream->stream,
                   is_blocking(recorded) ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING,
                   created ? recorded->priority : 0));
    stream->created = true;
    return NB_REPLAY_OK;
}

/* Use the legacy stream, and streams that synchronise with it, only if the region uses both. Otherwise the
 * engine's non-blocking stream replaces the main one, because no program could tell the difference. */
static int build_stream(struct nb_replay *replay, uint32_t index)
{
    struct nb_streams *streams = &replay->streams;
    const struct nb_capture_stream *recorded = &replay->reader.streams[index];
    struct nb_stream *stream = &streams->streams[index];
    const bool together = is_any_used(replay, is_legacy) && is_any_used(replay, is_blocking);
    const bool alike = (is_legacy(recorded) || is_blocking(recorded) ? !together : true) &&
                       (is_legacy(recorded) || recorded->priority == 0);
    NB_TRY(NB_CALL(replay, cuEventCreate, &stream->joined, CU_EVENT_DISABLE_TIMING));
    if (!streams->several || (index == streams->main && alike))
        stream->stream = streams->own;
    else if (is_legacy(recorded) && together)
        stream->stream = CU_STREAM_LEGACY;
    else
        NB_TRY(create_stream(replay, recorded, stream));
    if (index == streams->main)
        streams->timed = stream->stream;
    return NB_REPLAY_OK;
}

int nb_streams_build(struct nb_replay *replay)
{
    struct nb_streams *streams = &replay->streams;
    NB_TRY(NB_CALL(replay, cuEventCreate, &streams->start, CU_EVENT_DEFAULT));
    NB_TRY(NB_CALL(replay, cuEventCreate, &streams->end, CU_EVENT_DEFAULT));
    NB_TRY(NB_CALL(replay, cuEventCreate, &streams->fork, CU_EVENT_DISABLE_TIMING));
    streams->streams = nb_new(replay, replay->reader.stream_count, sizeof *streams->streams);
    streams->events = nb_new(replay, replay->reader.event_count, sizeof *streams->events);
    if ((streams->streams == NULL && replay->reader.stream_count != 0) ||
        (streams->events == NULL && replay->reader.event_count != 0))
        return NB_REPLAY_CANNOT;
    streams->count = replay->reader.stream_count;
    find_used(replay);
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->streams[i].used)
            NB_TRY(build_stream(replay, i));
    for (; streams->event_count < replay->reader.event_count; streams->event_count++)
        NB_TRY(
            NB_CALL(replay, cuEventCreate, &streams->events[streams->event_count], CU_EVENT_DISABLE_TIMING));
    return streams->several ? nb_streams_find_order(replay) : NB_REPLAY_OK;
}

static int wait_for(struct nb_replay *replay, struct nb_stream *stream)
{
    NB_TRY(NB_CALL(replay, cuEventRecord, stream->joined, stream->stream));
    return NB_CALL(replay, cuStreamWaitEvent, replay->streams.timed, stream->joined, 0);
}

/* Make the streams that need it, or all, wait for the work that is queued on the timed stream. */
static int spread(struct nb_replay *replay, bool all)
{
    const struct nb_streams *streams = &replay->streams;
    bool recorded = false;
    for (uint32_t i = 0; i < streams->count; i++) {
        const struct nb_stream *stream = &streams->streams[i];
        if (i == streams->main || !stream->used || !(all || stream->fork))
            continue;
        if (!recorded)
            NB_TRY(NB_CALL(replay, cuEventRecord, streams->fork, streams->timed));
        recorded = true;
        NB_TRY(NB_CALL(replay, cuStreamWaitEvent, stream->stream, streams->fork, 0));
    }
    return NB_REPLAY_OK;
}

int nb_streams_fork(struct nb_replay *replay)
{
    return spread(replay, false);
}

int nb_streams_fork_all(struct nb_replay *replay)
{
    return spread(replay, true);
}

static int gather(struct nb_replay *replay, uint32_t only)
{
    const struct nb_streams *streams = &replay->streams;
    for (uint32_t i = 0; i < streams->count; i++)
        if (i != streams->main && streams->streams[i].used && (only == NB_NOTHING || i == only))
            NB_TRY(wait_for(replay, &streams->streams[i]));
    return NB_REPLAY_OK;
}

int nb_streams_join_all(struct nb_replay *replay)
{
    return gather(replay, NB_NOTHING);
}

int nb_streams_join(struct nb_replay *replay)
{
    const struct nb_streams *streams = &replay->streams;
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->streams[i].join)
            NB_TRY(wait_for(replay, &streams->streams[i]));
    return NB_REPLAY_OK;
}

int nb_streams_order(struct nb_replay *replay, uint32_t only)
{
    if (!replay->streams.several)
        return NB_REPLAY_OK;
    NB_TRY(gather(replay, only));
    return spread(replay, true);
}

uint32_t nb_streams_queued(const struct nb_replay *replay, uint32_t joins)
{
    const struct nb_streams *streams = &replay->streams;
    uint64_t queued = streams->several ? (uint64_t)joins * 3 * streams->used_count : 0;
    for (uint32_t i = 0; i < streams->count; i++)
        queued += 2 * (uint64_t)(streams->streams[i].fork + streams->streams[i].join);
    return queued > UINT32_MAX ? UINT32_MAX : (uint32_t)queued;
}

void nb_streams_close(struct nb_replay *replay)
{
    struct nb_streams *streams = &replay->streams;
    const struct nb_driver *driver = &replay->driver;
    if (replay->gone == NB_REPLAY_OK && replay->context != NULL) {
        const CUevent own[] = {streams->start, streams->end, streams->fork};
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
            if (own[i] != NULL)
                driver->cuEventDestroy_v2(own[i]);
        for (uint32_t i = 0; i < streams->event_count; i++)
            driver->cuEventDestroy_v2(streams->events[i]);
        for (uint32_t i = 0; i < streams->count; i++) {
            if (streams->streams[i].joined != NULL)
                driver->cuEventDestroy_v2(streams->streams[i].joined);
            if (streams->streams[i].created)
                driver->cuStreamDestroy_v2(streams->streams[i].stream);
        }
        if (streams->own != NULL)
            driver->cuStreamDestroy_v2(streams->own);
    }
    free(streams->events);
    free(streams->streams);
}
