#include "driver/stream/stream.h"

#include "driver/core/state.h"
#include "driver/core/thread.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct dependency {
    struct sim_stream *stream;
    uint64_t number;
};

struct sim_operation {
    struct sim_operation *next;
    struct sim_work work;
    size_t dependency_count;
    struct dependency dependencies[];
};

static atomic_ullong next_id = 1;

static void dispose(struct sim_object *object)
{
    struct sim_stream *stream = (struct sim_stream *)object;
    pthread_mutex_destroy(&stream->mutex);
    pthread_cond_destroy(&stream->changed);
    sim_object_release(stream->object.context);
    free(stream);
}

static void end(void *stream)
{
    sim_stream_close(stream);
}

struct sim_stream *sim_stream_make(struct sim_context *context, unsigned flags, int priority)
{
    struct sim_stream *stream = calloc(1, sizeof(*stream));
    if (stream == NULL)
        return NULL;
    sim_object_init(&stream->object, SIM_STREAM, sim_object_retain(context), dispose);
    stream->object.end = end;
    pthread_mutex_init(&stream->mutex, NULL);
    pthread_cond_init(&stream->changed, NULL);
    stream->flags = flags;
    stream->priority = priority;
    stream->attributes = (struct sim_stream_attributes){.policy = -1, .domain_map = {0, 1}};
    stream->id = atomic_fetch_add(&next_id, 1);
    pthread_mutex_lock(&context->order);
    stream->next = context->streams;
    context->streams = stream;
    stream->listed = true;
    struct sim_work work = {.kind = SIM_WORK_WAIT};
    if (context->gate != NULL) {
        work.wait.stream = sim_object_retain(context->gate);
        work.wait.number = context->gate_number;
    }
    pthread_mutex_unlock(&context->order);
    if (work.wait.stream != NULL)
        (void)sim_stream_submit(
            stream, &work,
            NULL); /* cannot fail but for memory: it only waits for work that is queued already */
    return stream;
}

static void unlist(struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    for (struct sim_stream **link = &context->streams; *link != NULL; link = &(*link)->next)
        if (*link == stream) {
            *link = stream->next;
            break;
        }
    stream->listed = false;
    pthread_mutex_unlock(&context->order);
}

void sim_stream_close(struct sim_stream *stream)
{
    struct sim_context *context = sim_object_retain(stream->object.context);
    pthread_mutex_lock(&context->order);
    if (stream->recorder != NULL)
        stream->recorder->leave(stream);
    pthread_mutex_unlock(&context->order);
    pthread_mutex_lock(&stream->mutex);
    stream->closing = true;
    const bool started = stream->started;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
    if (!started) {
        unlist(stream);
        sim_object_release(stream);
    } /* else the worker does both after its last operation */
    sim_object_release(context);
}

/* Release everything that the operation owns. */
static void clear_operation(struct sim_operation *operation)
{
    sim_work_clear(&operation->work);
    for (size_t i = 0; i < operation->dependency_count; i++)
        sim_object_release(operation->dependencies[i].stream);
    operation->dependency_count = 0;
}

static void *worker(void *argument)
{
    struct sim_stream *stream = argument;
    for (;;) {
        pthread_mutex_lock(&stream->mutex);
        while (stream->first == NULL && !stream->closing)
            pthread_cond_wait(&stream->changed, &stream->mutex);
        struct sim_operation *operation = stream->first;
        const uint64_t number = stream->completed + 1;
        pthread_mutex_unlock(&stream->mutex);
        if (operation == NULL)
            break;
        for (size_t i = 0; i < operation->dependency_count; i++)
            sim_stream_wait(operation->dependencies[i].stream, operation->dependencies[i].number);
        sim_work_run(stream->object.context, stream, number, &operation->work);
        clear_operation(operation); /* before the operation counts as completed: a waiting thread may inspect
                                       what it freed */
        pthread_mutex_lock(&stream->mutex);
        stream->first = operation->next;
        if (stream->first == NULL)
            stream->last = NULL;
        stream->completed = number;
        pthread_cond_broadcast(&stream->changed);
        pthread_mutex_unlock(&stream->mutex);
        free(operation);
    }
    unlist(stream);
    sim_object_release(stream);
    return NULL;
}

/* The thread blocks all signals and is never joined: it ends with the process. Called with the stream's
 * mutex held. */
static bool start_worker(struct sim_stream *stream)
{
    sigset_t all;
    sigset_t previous;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &previous);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    stream->started = pthread_create(&thread, &attributes, worker, stream) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return stream->started;
}

bool sim_stream_is_capturing(struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    const bool capturing = stream->recorder != NULL;
    pthread_mutex_unlock(&context->order);
    return capturing;
}

bool sim_stream_has_completed(struct sim_stream *stream, uint64_t number)
{
    pthread_mutex_lock(&stream->mutex);
    const bool done = stream->completed >= number;
    pthread_mutex_unlock(&stream->mutex);
    return done;
}

void sim_stream_wait(struct sim_stream *stream, uint64_t number)
{
    pthread_mutex_lock(&stream->mutex);
    while (stream->completed < number)
        pthread_cond_wait(&stream->changed, &stream->mutex);
    pthread_mutex_unlock(&stream->mutex);
}

uint64_t sim_stream_newest(struct sim_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    const uint64_t newest = stream->submitted;
    pthread_mutex_unlock(&stream->mutex);
    return newest;
}

static bool is_blocking(const struct sim_stream *stream)
{
    return (stream->flags & CU_STREAM_NON_BLOCKING) == 0;
}

/* Dependencies by the default-stream rules: work on the legacy stream waits for all earlier work on blocking
 * streams, and later work on these waits for it. Called with the context's `order` held. */
static size_t add_implied_dependencies(struct sim_stream *stream, struct dependency *dependencies)
{
    struct sim_context *context = stream->object.context;
    size_t count = 0;
    if (!is_blocking(stream))
        return 0;
    for (struct sim_stream *other = context->streams; other != NULL; other = other->next) {
        const bool ordered = stream == context->legacy ? is_blocking(other) : other == context->legacy;
        if (other == stream || !ordered)
            continue;
        pthread_mutex_lock(&other->mutex);
        if (other->completed < other->submitted)
            dependencies[count++] = (struct dependency){sim_object_retain(other), other->submitted};
        pthread_mutex_unlock(&other->mutex);
    }
    return count;
}

static size_t count_streams(const struct sim_context *context)
{
    size_t count = 0;
    for (const struct sim_stream *stream = context->streams; stream != NULL; stream = stream->next)
        count++;
    return count;
}

/* Called with the context's `order` held. */
static CUresult enqueue(struct sim_stream *stream, struct sim_work *work, uint64_t *number)
{
    const size_t most = count_streams(stream->object.context);
    struct sim_operation *operation = malloc(sizeof(*operation) + most * sizeof(operation->dependencies[0]));
    if (operation == NULL) {
        sim_work_clear(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    operation->next = NULL;
    operation->work = *work;
    operation->dependency_count = add_implied_dependencies(stream, operation->dependencies);
    pthread_mutex_lock(&stream->mutex);
    const bool closed = stream->closing; /* the worker may have ended */
    const bool runs = !closed && (stream->started || start_worker(stream));
    if (runs) {
        *number = ++stream->submitted;
        sim_work_place(work, stream, *number);
        if (stream->last == NULL)
            stream->first = operation;
        else
            stream->last->next = operation;
        stream->last = operation;
        pthread_cond_broadcast(&stream->changed);
    }
    pthread_mutex_unlock(&stream->mutex);
    if (!runs) {
        clear_operation(operation);
        free(operation);
    }
    return runs ? CUDA_SUCCESS : closed ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_OPERATING_SYSTEM;
}

bool sim_stream_forbids_legacy(struct sim_context *context, bool invalidate)
{
    bool forbids = false;
    for (struct sim_stream *stream = context->streams; stream != NULL; stream = stream->next)
        if (stream->recorder != NULL && is_blocking(stream)) {
            forbids = true;
            if (invalidate)
                atomic_store(&stream->recorder->invalidated, true);
        }
    return forbids;
}

static CUresult submit(struct sim_stream *stream, struct sim_work *work, bool may_record, uint64_t *number)
{
    struct sim_context *context = stream->object.context;
    CUresult result;
    pthread_mutex_lock(&context->order);
    if (stream == context->legacy && sim_stream_forbids_legacy(context, true)) {
        sim_work_clear(work);
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    } else if (stream->recorder == NULL) {
        result = enqueue(stream, work, number);
    } else if (may_record) {
        *number = 0;
        result = stream->recorder->add(stream, work);
    } else {
        atomic_store(&stream->recorder->invalidated, true);
        sim_work_clear(work);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    pthread_mutex_unlock(&context->order);
    return result;
}

CUresult sim_stream_submit(struct sim_stream *stream, struct sim_work *work, uint64_t *number)
{
    uint64_t ignored;
    return submit(stream, work, true, number == NULL ? &ignored : number);
}

CUresult sim_stream_submit_and_wait(struct sim_stream *stream, struct sim_work *work)
{
    uint64_t number = 0;
    const CUresult result = submit(stream, work, false, &number);
    if (result != CUDA_SUCCESS)
        return result;
    sim_stream_wait(stream, number);
    return sim_context_error(stream->object.context);
}

CUresult sim_context_synchronize(struct sim_context *context)
{
    pthread_mutex_lock(&context->order);
    struct dependency *waits = malloc((count_streams(context) + 1) * sizeof(*waits));
    size_t count = 0;
    for (struct sim_stream *stream = context->streams; stream != NULL; stream = stream->next) {
        const uint64_t newest = sim_stream_newest(stream);
        if (waits != NULL && !sim_stream_has_completed(stream, newest))
            waits[count++] = (struct dependency){sim_object_retain(stream), newest};
    }
    pthread_mutex_unlock(&context->order);
    for (size_t i = 0; i < count; i++) {
        sim_stream_wait(waits[i].stream, waits[i].number);
        sim_object_release(waits[i].stream);
    }
    free(waits);
    return sim_context_error(context);
}

static CUresult per_thread_stream(struct sim_context *context, struct sim_stream **stream)
{
    struct sim_thread *self = sim_thread_self();
    if (self == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < self->stream_count; i++)
        if (self->streams[i]->context == context) {
            *stream = (struct sim_stream *)self->streams[i];
            return CUDA_SUCCESS;
        }
    struct sim_object **streams = realloc(self->streams, (self->stream_count + 1) * sizeof(*streams));
    if (streams == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    self->streams = streams;
    *stream = sim_stream_make(context, CU_STREAM_DEFAULT, 0);
    if (*stream == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    streams[self->stream_count++] = &(*stream)->object;
    return CUDA_SUCCESS;
}

static CUresult resolve(struct sim_context *context, CUstream handle, bool per_thread,
                        struct sim_stream **stream)
{
    if (handle == CU_STREAM_PER_THREAD || (handle == NULL && per_thread))
        return per_thread_stream(context, stream);
    if (handle == CU_STREAM_LEGACY || handle == NULL) {
        *stream = context->legacy;
        return CUDA_SUCCESS;
    }
    *stream = sim_object_find(handle, SIM_STREAM);
    return *stream == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult check_legacy(struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    if (stream != context->legacy)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&context->order);
    const bool forbidden = sim_stream_forbids_legacy(context, true);
    pthread_mutex_unlock(&context->order);
    return forbidden ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

CUresult sim_stream_resolve(struct sim_context *context, CUstream handle, bool per_thread,
                            struct sim_stream **stream)
{
    const CUresult result = resolve(context, handle, per_thread, stream);
    return result == CUDA_SUCCESS ? check_legacy(*stream) : result;
}

CUresult sim_stream_enter_for_query(CUstream handle, bool per_thread, struct sim_stream **stream)
{
    struct sim_context *context;
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    *stream = sim_object_find(handle, SIM_STREAM);
    if (*stream != NULL)
        return sim_context_check((*stream)->object.context);
    result = sim_enter(&context);
    return result == CUDA_SUCCESS ? resolve(context, handle, per_thread, stream) : result;
}

CUresult sim_stream_enter(CUstream handle, bool per_thread, struct sim_stream **stream)
{
    const CUresult result = sim_stream_enter_for_query(handle, per_thread, stream);
    return result == CUDA_SUCCESS ? check_legacy(*stream) : result;
}
