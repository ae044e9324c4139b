/* Streams: a queue, a worker thread that runs it in order, and what each operation must wait for. */
#ifndef NEUTRINO_SIM_STREAM_H
#define NEUTRINO_SIM_STREAM_H

#include "driver/core/api.h"
#include "driver/context/context.h"
#include "driver/stream/work.h"

#include <stdint.h>

struct sim_capture;
struct sim_operation;

/* What cuStreamSetAttribute keeps, beside the priority. Here they change nothing but what is told back. */
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

    struct sim_capture *capture; /* not NULL while capturing; under the context's `order` */

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct sim_operation *first;
    struct sim_operation *last;
    uint64_t submitted; /* number of the newest operation */
    uint64_t completed; /* number of the newest that has run */
    bool started;
    bool closing;
};

/* A stream in its context's list, without a handle; the caller's reference. NULL without memory. */
struct sim_stream *sim_stream_make(struct sim_context *context, unsigned flags, int priority);

int sim_stream_clamp_priority(int priority);

/* Give up the reference that sim_stream_make gave; queued work still runs. */
void sim_stream_close(struct sim_stream *stream);

/* The stream that an API call means. `per_thread`: what 0 means in a _ptsz call. */
CUresult sim_stream_resolve(struct sim_context *context, CUstream handle, bool per_thread,
                            struct sim_stream **stream);

/* What begins nearly every call on a stream: initialised, a valid handle, its context alive and without a
 * sticky error. A stream that was created needs no current context. The legacy stream cannot be used while a
 * blocking one captures, and the attempt ends that capture, but for the calls that only ask about captures.
 */
CUresult sim_stream_enter(CUstream handle, bool per_thread, struct sim_stream **stream);
CUresult sim_stream_enter_to_ask(CUstream handle, bool per_thread, struct sim_stream **stream);

/* Queue work, or record it if the stream is capturing. Takes what `work` owns in either case, also on error.
 * `number`, if not NULL, gets the operation's number; 0 if it was recorded. */
CUresult sim_stream_submit(struct sim_stream *stream, struct sim_work *work, uint64_t *number);

/* Submit and wait; CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED on a capturing stream, whose capture it spoils. */
CUresult sim_stream_submit_and_wait(struct sim_stream *stream, struct sim_work *work);

bool sim_stream_is_capturing(struct sim_stream *stream);
void sim_stream_wait(struct sim_stream *stream, uint64_t number);
bool sim_stream_has_completed(struct sim_stream *stream, uint64_t number);
uint64_t sim_stream_newest(struct sim_stream *stream);
void sim_stream_wait_all(struct sim_context *context);

#endif
