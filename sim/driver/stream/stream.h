/* Streams: a queue, a worker thread that runs it in order, and the dependencies of operations. */
#ifndef NEUTRINO_SIM_STREAM_H
#define NEUTRINO_SIM_STREAM_H

#include "driver/context/context.h"
#include "driver/core/api.h"
#include "driver/stream/work.h"

#include <stdint.h>

struct sim_operation;
struct sim_stream;

/* Receives the work of a capturing stream in place of its queue. Called with the context's `order` held. */
struct sim_recorder {
    CUresult (*add)(struct sim_stream *stream, struct sim_work *work); /* takes what the work owns */
    void (*leave)(struct sim_stream *stream);                          /* the stream is being closed */
    atomic_bool
        invalidated; /* a call on the stream cannot be captured, so the end of the capture will fail */
};

/* Values of cuStreamSetAttribute, besides the priority. They have no effect here beyond queries. */
struct sim_stream_attributes {
    CUaccessPolicyWindow window;
    int policy; /* CUsynchronizationPolicy; -1: never set */
    unsigned char domain_map[2];
    int domain;
};

struct sim_stream {
    struct sim_object object;
    struct sim_stream *next; /* in the context's list; under its `order` */
    unsigned flags;
    int priority;
    struct sim_stream_attributes attributes; /* under the context's `order`, as is the priority */
    unsigned long long id;
    bool listed; /* under the context's `order` */

    struct sim_recorder *recorder; /* not NULL while capturing; under the context's `order` */

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct sim_operation *first;
    struct sim_operation *last;
    uint64_t submitted; /* number of the newest operation */
    uint64_t completed; /* number of the newest completed operation */
    bool started;
    bool closing;
};

/* A stream in its context's list, without a handle. The caller gets the reference. NULL: out of memory. */
struct sim_stream *sim_stream_make(struct sim_context *context, unsigned flags, int priority);

int sim_stream_clamp_priority(int priority);

/* Release the reference of sim_stream_make. Queued work still runs. */
void sim_stream_close(struct sim_stream *stream);

/* Resolve the stream of an API call. `per_thread`: 0 means the per-thread default stream, as in _ptsz calls.
 */
CUresult sim_stream_resolve(struct sim_context *context, CUstream handle, bool per_thread,
                            struct sim_stream **stream);

/* Checks of nearly every call on a stream: initialized, a valid handle, its context alive and without a
 * sticky error. A created stream needs no current context. Using the legacy stream while a blocking stream
 * captures fails and invalidates that capture, except in calls that only query captures: these use
 * sim_stream_enter_for_query. */
CUresult sim_stream_enter(CUstream handle, bool per_thread, struct sim_stream **stream);
CUresult sim_stream_enter_for_query(CUstream handle, bool per_thread, struct sim_stream **stream);

/* Queue work, or add it to the capture of the stream. Takes what `work` owns in both cases, also on error.
 * `number`, if not NULL, gets the operation's number, or 0 if captured. */
CUresult sim_stream_submit(struct sim_stream *stream, struct sim_work *work, uint64_t *number);

/* Submit and wait. On a capturing stream invalidates the capture and returns
 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED. */
CUresult sim_stream_submit_and_wait(struct sim_stream *stream, struct sim_work *work);

/* Whether a blocking stream of the context captures, so that the legacy stream cannot be used: its work
 * would have to wait for work that is not queued. With `invalidate`, invalidates such captures. Called with
 * the context's `order` held. */
bool sim_stream_forbids_legacy(struct sim_context *context, bool invalidate);

bool sim_stream_is_capturing(struct sim_stream *stream);
void sim_stream_wait(struct sim_stream *stream, uint64_t number);
bool sim_stream_has_completed(struct sim_stream *stream, uint64_t number);
uint64_t sim_stream_newest(struct sim_stream *stream);

/* Wait for all work that the context's streams have been given so far. Returns the context's sticky error. */
CUresult sim_context_synchronize(struct sim_context *context);

#endif
