#include "cuda/time/launch_time.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/driver/slots.h"
#include "core/ring/session.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/stream.h"
#include "real.h"
#include "surface.h"

/* A driver's queue holds about 1000 launches, so that a context needs no more pairs. PAIRS bounds those of
 * all contexts. A launch collects up to STEP others, so that collecting keeps up with launching; a launch
 * that finds no pair looks at SWEEP. */
enum { PAIRS = 4096, CONTEXT_PAIRS = 1024, STEP = 4, SWEEP = 64 };

struct nb_event_pair {
    CUevent start, end; /* NULL: not made yet */
    CUcontext context;  /* of the events; NULL: destroyed with them */
    CUstream stream;    /* of the launch, never 0 */
    struct nb_event_pair *next;
    uint64_t number, kernel, graph, given_stream;
    uint32_t thread;
    bool was_reached; /* the device had passed the start before the launch was queued */
};

struct list {
    struct nb_event_pair *first, *last;
};

atomic_bool nb_launch_times_wanted;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static struct nb_event_pair pairs[PAIRS];
static unsigned used;                      /* entries of `pairs` that are in a list or in use by a launch */
static struct list spare, pending, vacant; /* vacant: without events */
static uint64_t numbers;
static bool has_exit_handler;

static void append(struct list *list, struct nb_event_pair *pair)
{
    pair->next = NULL;
    *(list->last != NULL ? &list->last->next : &list->first) = pair;
    list->last = pair;
}

/* Remove the first pair of a context, or of any with NULL. */
static struct nb_event_pair *take_first(struct list *list, CUcontext context)
{
    struct nb_event_pair *before = NULL;
    for (struct nb_event_pair *pair = list->first; pair != NULL; before = pair, pair = pair->next) {
        if (context != NULL && pair->context != context)
            continue;
        *(before != NULL ? &before->next : &list->first) = pair->next;
        if (list->last == pair)
            list->last = before;
        return pair;
    }
    return NULL;
}

static CUstreamCaptureMode exchange_mode(CUstreamCaptureMode mode)
{
    NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return mode;
}

static void write_time(const struct nb_call *call, const struct nb_event_pair *pair, float milliseconds)
{
    struct nb_launch_time *record = nb_ring_reserve(call->thread, sizeof *record);
    if (record == NULL)
        return;
    const uint64_t now = nb_clock();
    *record = (struct nb_launch_time){.record = {.size = sizeof *record,
                                                 .kind = NB_RECORD_LAUNCH_TIME,
                                                 .begin = now,
                                                 .end = now,
                                                 .count = pair->was_reached},
                                      .launch = pair->number,
                                      .kernel = pair->kernel,
                                      .graph = pair->graph,
                                      .stream = pair->given_stream,
                                      .nanoseconds =
                                          milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6 + 0.5) : 0,
                                      .thread = pair->thread};
    nb_ring_commit(call->thread, sizeof *record);
}

/* Write the times of launches of a context (of all with NULL) that have ended. Takes at most `most` pending
 * pairs, oldest first, and stops at the first that is not ready unless `all`. That pair goes to the end of
 * the list, so that a slow stream does not hold up the others. The caller holds the lock, also across the two
 * queries, which never wait: when a context is destroyed, its pairs are dropped under the lock. */
static void collect(const struct nb_call *call, CUcontext context, unsigned most, bool all)
{
    struct nb_event_pair *pair;
    for (; most > 0 && (pair = take_first(&pending, context)) != NULL; most--) {
        float milliseconds = 0;
        CUresult result = NB_REAL(cuEventQuery)(pair->end);
        if (result == CUDA_ERROR_NOT_READY) {
            append(&pending, pair);
            if (all)
                continue;
            return;
        }
        if (result == CUDA_SUCCESS)
            result = NB_REAL(cuEventElapsedTime)(&milliseconds, pair->start, pair->end);
        if (result == CUDA_SUCCESS)
            write_time(call, pair, milliseconds);
        append(&spare, pair);
    }
}

static void at_exit(void)
{
    struct nb_thread *thread = &nb_thread;
    if (!nb_timing_launches() || (thread->state != NB_THREAD_READY && !nb_thread_attach(thread)))
        return;
    /* A signal handler may have called exit() while this thread held the lock. */
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    const struct nb_call call = {.thread = thread};
    thread->state = NB_THREAD_INSIDE;
    const CUstreamCaptureMode before = exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    collect(&call, NULL, PAIRS, true);
    exchange_mode(before);
    thread->state = NB_THREAD_READY;
    pthread_mutex_unlock(&lock);
}

/* The context of a stream's events. False if no event can be recorded there now: stream capture takes the
 * stream's work, or an event on the legacy stream would break the stream capture of another. */
static bool find_context(CUstream stream, CUcontext *context)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return NB_REAL(cuStreamIsCapturing)(stream, &status) == CUDA_SUCCESS &&
           status == CU_STREAM_CAPTURE_STATUS_NONE &&
           NB_REAL(cuStreamGetCtx)(stream, context) == CUDA_SUCCESS && *context != NULL;
}

static unsigned count_pairs(CUcontext context)
{
    unsigned count = 0;
    for (unsigned i = 0; i < used; i++)
        count += pairs[i].context == context;
    return count;
}

/* Return a pair of the context, or NULL. Its events may be missing. Never takes another context's pair: that
 * context may be destroyed at this moment, and its events with it. */
static struct nb_event_pair *find_pair(CUcontext context)
{
    struct nb_event_pair *pair = take_first(&spare, context);
    if (pair != NULL || count_pairs(context) >= CONTEXT_PAIRS)
        return pair;
    pair = take_first(&vacant, NULL);
    if (pair == NULL && used < PAIRS)
        pair = &pairs[used++];
    if (pair != NULL)
        pair->context = context;
    return pair;
}

static struct nb_event_pair *take_pair(const struct nb_call *call, CUcontext context)
{
    pthread_mutex_lock(&lock);
    if (!has_exit_handler) {
        has_exit_handler = true;
        atexit(at_exit); /* after the driver has installed its own, so before that runs */
    }
    struct nb_event_pair *pair = find_pair(context);
    if (pair == NULL) {
        collect(call, context, SWEEP, true);
        pair = take_first(&spare, context);
    }
    if (pair != NULL)
        pair->number = ++numbers;
    pthread_mutex_unlock(&lock);
    return pair;
}

static void give_back(struct list *list, struct nb_event_pair *pair)
{
    pthread_mutex_lock(&lock);
    append(list, pair);
    pthread_mutex_unlock(&lock);
}

/* Make the pair's missing events. The driver makes events in the current context. */
static bool make_events(struct nb_event_pair *pair)
{
    const CUcontext context = pair->context;
    CUcontext current = NULL;
    if (pair->start != NULL && pair->end != NULL)
        return true;
    if (NB_REAL(cuCtxGetCurrent)(&current) != CUDA_SUCCESS ||
        (current != context && NB_REAL(cuCtxSetCurrent)(context) != CUDA_SUCCESS))
        return false;
    const bool is_made =
        (pair->start != NULL || NB_REAL(cuEventCreate)(&pair->start, CU_EVENT_DEFAULT) == CUDA_SUCCESS) &&
        (pair->end != NULL || NB_REAL(cuEventCreate)(&pair->end, CU_EVENT_DEFAULT) == CUDA_SUCCESS);
    if (current != context)
        NB_REAL(cuCtxSetCurrent)(current);
    return is_made;
}

struct nb_event_pair *nb_launch_time_begin(const struct nb_call *call, CUstream stream)
{
    CUcontext context = NULL;
    const int saved = errno;
    const CUstream resolved = nb_stream_resolve(call, stream);
    if (!find_context(resolved, &context)) {
        errno = saved;
        return NULL;
    }
    /* A stream capture in global mode forbids calls of every thread that may be unsafe. */
    const CUstreamCaptureMode before = exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    struct nb_event_pair *pair = take_pair(call, context);
    if (pair != NULL &&
        (!make_events(pair) || NB_REAL(cuEventRecord)(pair->start, resolved) != CUDA_SUCCESS)) {
        give_back(&spare, pair);
        pair = NULL;
    }
    exchange_mode(before);
    if (pair != NULL) {
        pair->stream = resolved;
        pair->given_stream = nb_handle(stream);
        pair->thread = call->thread->ring->thread;
    }
    errno = saved;
    return pair;
}

uint64_t nb_launch_time_number(const struct nb_event_pair *pair)
{
    return pair->number;
}

void nb_launch_time_end(const struct nb_call *call, struct nb_event_pair *pair, CUresult result,
                        uint64_t kernel, uint64_t graph)
{
    const int saved = errno;
    const CUcontext context = pair->context;
    const CUstreamCaptureMode before = exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    pair->kernel = kernel;
    pair->graph = graph;
    pair->was_reached = NB_REAL(cuEventQuery)(pair->start) == CUDA_SUCCESS;
    const bool is_timed =
        result == CUDA_SUCCESS && NB_REAL(cuEventRecord)(pair->end, pair->stream) == CUDA_SUCCESS;
    give_back(is_timed ? &pending : &spare, pair);
    if (pthread_mutex_trylock(&lock) == 0) {
        collect(call, context, STEP, false);
        pthread_mutex_unlock(&lock);
    }
    exchange_mode(before);
    errno = saved;
}

void nb_launch_time_collect(const struct nb_call *call)
{
    CUcontext context = NULL;
    if (!nb_timing_launches() || !nb_hook_enter(call))
        return;
    const int saved = errno;
    if (NB_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS && context != NULL) {
        const CUstreamCaptureMode before = exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
        pthread_mutex_lock(&lock);
        collect(call, context, PAIRS, true);
        pthread_mutex_unlock(&lock);
        exchange_mode(before);
    }
    errno = saved;
    nb_hook_leave(call);
}

void nb_launch_time_forget_context(uint64_t context)
{
    const CUcontext destroyed = (CUcontext)(uintptr_t)context;
    struct nb_event_pair *pair;
    if (!nb_timing_launches())
        return;
    pthread_mutex_lock(&lock);
    while ((pair = take_first(&pending, destroyed)) != NULL ||
           (pair = take_first(&spare, destroyed)) != NULL) {
        pair->start = pair->end = NULL;
        pair->context = NULL;
        append(&vacant, pair);
    }
    pthread_mutex_unlock(&lock);
}

static void start(void)
{
    atomic_store(&nb_launch_times_wanted, nb_session()->gpu_time != 0);
}

/* The child's driver has none of the parent's events. */
static void forget(void)
{
    spare = pending = vacant = (struct list){NULL, NULL};
    memset(pairs, 0, sizeof pairs);
    used = 0;
}

const struct nb_component nb_launch_time_component = {.locks = {&lock}, .start = start, .forget = forget};
