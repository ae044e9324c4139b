#include "driver/stream/event.h"

#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <time.h>

static void dispose(struct sim_object *object)
{
    struct sim_event *event = (struct sim_event *)object;
    sim_object_release(event->stream);
    free(event->nodes);
    sim_stamp_give(event->stamp);
    pthread_mutex_destroy(&event->mutex);
    free(event);
}

struct sim_event *sim_event_make(struct sim_context *context, unsigned flags)
{
    struct sim_event *event = calloc(1, sizeof(*event));
    sim_stamp *stamp = sim_stamp_take();
    if (event == NULL || stamp == NULL) {
        free(event);
        sim_stamp_give(stamp);
        return NULL;
    }
    event->stamp = stamp;
    sim_object_init(&event->object, SIM_EVENT, context, dispose);
    event->object.end = sim_object_release;
    pthread_mutex_init(&event->mutex, NULL);
    event->flags = flags;
    return event;
}

void sim_event_place(struct sim_event *event, struct sim_stream *stream, uint64_t number)
{
    pthread_mutex_lock(&event->mutex);
    struct sim_stream *before = event->stream;
    event->stream = sim_object_retain(stream);
    event->number = number;
    atomic_store(event->stamp, 0);
    event->capture = 0;
    pthread_mutex_unlock(&event->mutex);
    sim_object_release(before);
}

static void run_record(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                       struct sim_work *work)
{
    struct sim_event *event = work->event;
    struct timespec now;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&event->mutex);
    if (event->stream == stream && event->number == number) /* otherwise the event was recorded again since */
        atomic_store(event->stamp, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    pthread_mutex_unlock(&event->mutex);
}

/* Wait until the event has happened where it was last recorded. Called on the worker of `waiter`. */
static void wait_event(struct sim_event *event, const struct sim_stream *waiter)
{
    pthread_mutex_lock(&event->mutex);
    struct sim_stream *stream =
        event->stream == waiter || event->stream == NULL ? NULL : sim_object_retain(event->stream);
    const uint64_t number = event->number;
    pthread_mutex_unlock(&event->mutex);
    if (stream != NULL)
        sim_stream_wait(stream, number);
    sim_object_release(stream);
}

static CUresult clone_record(struct sim_work *copy, const struct sim_work *work, bool published)
{
    (void)copy, (void)published;
    sim_object_retain(work->event);
    return CUDA_SUCCESS;
}

static void clear_record(struct sim_work *work)
{
    sim_object_release(work->event);
}

static void place_record(const struct sim_work *work, struct sim_stream *stream, uint64_t number)
{
    sim_event_place(work->event, stream, number);
}

const struct sim_work_class sim_record_work = {.runs_after_fault = true,
                                               .run = run_record,
                                               .clone = clone_record,
                                               .clear = clear_record,
                                               .place = place_record};

static void run_wait(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                     struct sim_work *work)
{
    (void)context, (void)number;
    if (work->wait.stream != NULL)
        sim_stream_wait(work->wait.stream, work->wait.number);
    else
        wait_event(work->wait.event, stream);
}

static CUresult clone_wait(struct sim_work *copy, const struct sim_work *work, bool published)
{
    (void)copy, (void)published;
    if (work->wait.stream != NULL)
        sim_object_retain(work->wait.stream);
    if (work->wait.event != NULL)
        sim_object_retain(work->wait.event);
    return CUDA_SUCCESS;
}

static void clear_wait(struct sim_work *work)
{
    sim_object_release(work->wait.stream);
    sim_object_release(work->wait.event);
}

const struct sim_work_class sim_wait_work = {
    .runs_after_fault = true, .run = run_wait, .clone = clone_wait, .clear = clear_wait};

CUresult sim_event_enter(CUevent handle, struct sim_event **event)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    *event = sim_object_find(handle, SIM_EVENT);
    return *event == NULL ? CUDA_ERROR_INVALID_HANDLE : sim_context_check((*event)->object.context);
}

struct sim_stream *sim_event_locate(struct sim_event *event, uint64_t *number)
{
    pthread_mutex_lock(&event->mutex);
    struct sim_stream *stream = event->stream == NULL ? NULL : sim_object_retain(event->stream);
    *number = event->number;
    pthread_mutex_unlock(&event->mutex);
    return stream;
}
