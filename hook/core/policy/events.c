#include "core/policy/events.h"

#include <stdatomic.h>
#include <stddef.h>

#include "core/base/handle_map.h"
#include "core/driver/slots.h"
#include "core/policy/phase.h"
#include "core/ring/ring.h"

enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 }; /* handles of both vendors */

static struct nb_handle_map timing_events = NB_HANDLE_MAP_INITIALIZER; /* to a value that is not NULL */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;               /* guards what follows */
static atomic_bool keeps_events;
static bool has_timed_stream, window_is_open, window_has_work;
static uint64_t timed_stream;
static uint32_t timed_phase; /* nb_phase_marks when the stream was noted */
static enum nb_phase phase_before;

void nb_policy_keep_events(void)
{
    atomic_store_explicit(&keeps_events, true, memory_order_relaxed);
}

void nb_policy_event_created(uint64_t event, bool keeps_time)
{
    if (atomic_load_explicit(&keeps_events, memory_order_relaxed))
        nb_handle_map_set(&timing_events, event, keeps_time ? &timing_events : NULL);
}

bool nb_policy_event_keeps_time(uint64_t event)
{
    return nb_handle_map_get(&timing_events, event) != NULL;
}

/* A number for each stream: a default stream has two handles, and each thread has a per-thread default
 * stream. */
static uint64_t stream_key(uint32_t slot, uint64_t stream)
{
    const bool is_default = stream == 0 && !nb_export_is_per_thread(slot);
    const bool is_per_thread = stream == PER_THREAD_STREAM || (stream == 0 && !is_default);
    return is_default ? LEGACY_STREAM : is_per_thread ? (uint64_t)(uintptr_t)&nb_thread : stream;
}

bool nb_policy_is_timed_stream(uint32_t slot, uint64_t stream)
{
    if (atomic_load_explicit(&nb_phase_now, memory_order_relaxed) != NB_PHASE_TIMING)
        return true;
    pthread_mutex_lock(&lock);
    const uint32_t marks = atomic_load_explicit(&nb_phase_marks, memory_order_relaxed);
    if (!has_timed_stream || timed_phase != marks)
        timed_stream = stream_key(slot, stream);
    has_timed_stream = true;
    timed_phase = marks;
    const bool is_timed = timed_stream == stream_key(slot, stream);
    pthread_mutex_unlock(&lock);
    return is_timed;
}

/* An event on another stream than the window's first neither ends the window nor begins one. */
void nb_policy_window_event(uint32_t slot, uint64_t event, uint64_t stream, const void *caller)
{
    if (!nb_policy_event_keeps_time(event))
        return;
    const enum nb_phase now = atomic_load_explicit(&nb_phase_now, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    window_is_open = window_is_open && now == NB_PHASE_TIMING; /* the program may have left it by itself */
    const bool begins = !window_is_open && now != NB_PHASE_TIMING;
    const bool ends = window_is_open && window_has_work && timed_stream == stream_key(slot, stream);
    const enum nb_phase next = begins ? NB_PHASE_TIMING : phase_before;
    if (begins) {
        phase_before = now;
        window_has_work = false;
    }
    window_is_open = begins || (window_is_open && !ends);
    if (begins || ends)
        nb_phase_enter(next, NB_PHASE_BY_EVENTS, "", caller);
    if (begins) {
        timed_stream = stream_key(slot, stream);
        has_timed_stream = true;
        timed_phase = atomic_load_explicit(&nb_phase_marks, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
}

void nb_policy_window_work(void)
{
    pthread_mutex_lock(&lock);
    window_has_work = true;
    pthread_mutex_unlock(&lock);
}

static void forget(void)
{
    has_timed_stream = window_is_open = window_has_work = false;
    nb_handle_map_forget(&timing_events);
}

const struct nb_component nb_policy_events_component = {.locks = {&lock, &timing_events.lock},
                                                        .forget = forget};
