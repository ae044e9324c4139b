/* Finds the streams that the region itself orders behind its start and before its end.
 *
 * `main` is the timed stream, and so between the two. The work of another stream is behind the start if,
 * before its first work, the stream waited for an event that was recorded behind the start. It is before the
 * end if, after its last work, the stream records an event for which a stream waits that is itself before the
 * end. */
#include <stdlib.h>

#include "replay/base/engine.h"
#include "replay/rebuild/streams.h"

/* One flag per stream and per event: "ordered", at the present position of the walk. */
struct walk {
    bool *streams, *events;
    uint32_t stream_count;
};

static bool is_step(const struct nb_capture_operation *operation)
{
    return operation->graph == 0;
}

static bool is_work(const struct nb_capture_operation *operation)
{
    return operation->kind != NB_OPERATION_EVENT_RECORD && operation->kind != NB_OPERATION_EVENT_WAIT &&
           operation->kind != NB_OPERATION_SYNCHRONIZE;
}

/* A synchronisation goes through the timed stream: it orders the streams that it waits for, and later work on
 * any stream. */
static void join(struct walk *walk, uint32_t stream)
{
    for (uint32_t i = 0; i < walk->stream_count; i++)
        walk->streams[i] |= stream == NB_NOTHING || i == stream;
}

static void find_forks(struct nb_replay *replay, struct walk *walk)
{
    for (uint32_t i = 0; i < replay->reader.operation_count; i++) {
        const struct nb_capture_operation *operation = &replay->reader.operations[i];
        if (!is_step(operation))
            continue;
        const uint32_t stream = operation->stream;
        if (operation->kind == NB_OPERATION_SYNCHRONIZE)
            join(walk, NB_NOTHING);
        else if (operation->kind == NB_OPERATION_EVENT_RECORD)
            walk->events[operation->as.event.event] = walk->streams[stream];
        else if (operation->kind == NB_OPERATION_EVENT_WAIT)
            walk->streams[stream] |= walk->events[operation->as.event.event];
        else if (is_work(operation) && !walk->streams[stream])
            walk->streams[stream] = replay->streams.streams[stream].fork = true;
    }
}

/* Walk backwards: a wait of an ordered stream orders everything before the last record of its event. */
static void find_joins(struct nb_replay *replay, struct walk *walk)
{
    for (uint32_t i = replay->streams.stop; i > 0; i--) {
        const struct nb_capture_operation *operation = &replay->reader.operations[i - 1];
        if (!is_step(operation))
            continue;
        const uint32_t stream = operation->stream;
        if (operation->kind == NB_OPERATION_SYNCHRONIZE) {
            join(walk, stream);
        } else if (operation->kind == NB_OPERATION_EVENT_WAIT) {
            walk->events[operation->as.event.event] |= walk->streams[stream];
        } else if (operation->kind == NB_OPERATION_EVENT_RECORD) {
            walk->streams[stream] |= walk->events[operation->as.event.event];
            walk->events[operation->as.event.event] = false;
        } else if (is_work(operation) && !walk->streams[stream]) {
            walk->streams[stream] = replay->streams.streams[stream].join = true;
        }
    }
}

int nb_streams_find_order(struct nb_replay *replay)
{
    const struct nb_streams *streams = &replay->streams;
    for (int backwards = 0; backwards < 2; backwards++) {
        struct walk walk = {
            .streams = nb_new(replay, streams->count, sizeof *walk.streams),
            .events = nb_new(replay, (uint64_t)replay->reader.event_count + 1, sizeof *walk.events),
            .stream_count = streams->count,
        };
        const bool has_memory = walk.streams != NULL && walk.events != NULL;
        if (has_memory) {
            walk.streams[streams->main] = true;
            (backwards ? find_joins : find_forks)(replay, &walk);
        }
        free(walk.streams);
        free(walk.events);
        if (!has_memory)
            return NB_REPLAY_CANNOT;
    }
    return NB_REPLAY_OK;
}
