#include <stdlib.h>

#include "engine.h"

/* Which streams have operations. A wait or a join for a stream nothing was given to orders nothing. */
static void find_used(struct nb_replay *replay)
{
    struct nb_streams *streams = &replay->streams;
    for (uint32_t i = 0; i < replay->reader.operation_count; i++) {
        const struct nb_capture_operation *operation = &replay->reader.operations[i];
        if (operation->graph != 0 || operation->kind == NB_OPERATION_JOIN ||
            operation->stream >= streams->count)
            continue;
        streams->used_count += !streams->streams[operation->stream].used;
        streams->streams[operation->stream].used = true;
    }
    streams->forked = streams->used_count > 1;
}

/* A per-thread default stream is one that synchronises with the legacy one; here it is any other such. */
static int build_stream(struct nb_replay *replay, uint32_t index)
{
    const struct nb_capture_stream *recorded = &replay->reader.streams[index];
    struct nb_stream *stream = &replay->streams.streams[index];
    if (!replay->streams.forked) {
        stream->stream = replay->streams.timed;
        return NB_REPLAY_OK;
    }
    NB_TRY(NB_CALL(replay, cuEventCreate, &stream->joined, CU_EVENT_DISABLE_TIMING));
    if (recorded->kind == NB_CAPTURE_STREAM_LEGACY) {
        stream->stream = CU_STREAM_LEGACY;
        return NB_REPLAY_OK;
    }
    const bool created = recorded->kind == NB_CAPTURE_STREAM_CREATED;
    NB_TRY(NB_CALL(replay, cuStreamCreateWithPriority, &stream->stream,
                   created ? recorded->flags & CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT,
                   created ? recorded->priority : 0));
    stream->created = true;
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
        return NB_REPLAY_OURS;
    streams->count = replay->reader.stream_count;
    find_used(replay);
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->streams[i].used)
            NB_TRY(build_stream(replay, i));
    for (; streams->event_count < replay->reader.event_count; streams->event_count++)
        NB_TRY(
            NB_CALL(replay, cuEventCreate, &streams->events[streams->event_count], CU_EVENT_DISABLE_TIMING));
    return NB_REPLAY_OK;
}

/* What was given to used streams so far comes before what the timed stream is given from now on. */
static int gather(struct nb_replay *replay, uint32_t only)
{
    const struct nb_streams *streams = &replay->streams;
    for (uint32_t i = 0; i < streams->count; i++) {
        const struct nb_stream *stream = &streams->streams[i];
        if (!stream->used || (only != NB_NOTHING && i != only))
            continue;
        NB_TRY(NB_CALL(replay, cuEventRecord, stream->joined, stream->stream));
        NB_TRY(NB_CALL(replay, cuStreamWaitEvent, streams->timed, stream->joined, 0));
    }
    return NB_REPLAY_OK;
}

int nb_streams_fork(struct nb_replay *replay)
{
    const struct nb_streams *streams = &replay->streams;
    if (!streams->forked)
        return NB_REPLAY_OK;
    NB_TRY(NB_CALL(replay, cuEventRecord, streams->fork, streams->timed));
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->streams[i].used)
            NB_TRY(NB_CALL(replay, cuStreamWaitEvent, streams->streams[i].stream, streams->fork, 0));
    return NB_REPLAY_OK;
}

int nb_streams_join(struct nb_replay *replay)
{
    return replay->streams.forked ? gather(replay, NB_NOTHING) : NB_REPLAY_OK;
}

int nb_streams_order(struct nb_replay *replay, uint32_t stream)
{
    if (!replay->streams.forked)
        return NB_REPLAY_OK;
    NB_TRY(gather(replay, stream));
    return nb_streams_fork(replay);
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
        if (streams->timed != NULL)
            driver->cuStreamDestroy_v2(streams->timed);
    }
    free(streams->events);
    free(streams->streams);
}
