#include "cuda/capture/event.h"

#include <cuda.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/base/handle_map.h"
#include "core/region/region.h"
#include "cuda/capture/operation.h"
#include "cuda/capture/refuse.h"
#include "cuda/capture/stream.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/stream.h"
#include "real.h"
#include "special.h"

struct event {
    bool keeps_time;
    uint32_t region; /* region of its last record, counted from 1; 0: none */
    uint32_t number; /* number of the event in that region */
    uint32_t stream; /* stream of its last record */
};

static struct nb_handle_map events = NB_HANDLE_MAP_INITIALIZER; /* to struct event */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* guards the events' fields */
static uint32_t region = 1, next_number;

static void reset(void)
{
    pthread_mutex_lock(&lock);
    region++;
    next_number = 0;
    pthread_mutex_unlock(&lock);
}

static void forget(void)
{
    nb_handle_map_forget(&events);
}

const struct nb_component nb_capture_event_component = {
    .locks = {&lock, &events.lock}, .forget = forget, .reset = reset};

static struct event *add(CUevent handle, bool keeps_time)
{
    const int saved = errno;
    struct event *event = calloc(1, sizeof *event);
    if (event != NULL) {
        event->keeps_time = keeps_time;
        if (!nb_handle_map_set(&events, nb_handle(handle), event)) {
            free(event);
            event = NULL;
        }
    }
    errno = saved;
    return event;
}

/* Copy the event's last record if it was in this region. */
static bool find_record_in_region(CUevent handle, struct event *copy)
{
    const struct event *event = nb_handle_map_get(&events, nb_handle(handle));
    if (event == NULL)
        return false;
    pthread_mutex_lock(&lock);
    *copy = *event;
    const bool is_here = event->region == region;
    pthread_mutex_unlock(&lock);
    return is_here;
}

/* A stream capture took the record: later waits for this event wait for a graph node instead. */
static void forget_record(CUevent handle)
{
    struct event *event = nb_handle_map_get(&events, nb_handle(handle));
    if (event == NULL)
        return;
    pthread_mutex_lock(&lock);
    event->region = 0;
    pthread_mutex_unlock(&lock);
}

static void append_record(const struct nb_call *call, CUevent handle, CUstream stream)
{
    struct event *event = nb_handle_map_get(&events, nb_handle(handle));
    if (event == NULL && (event = add(handle, false)) == NULL) {
        nb_capture_refuse_incomplete();
        return;
    }
    const uint32_t index = nb_capture_write_stream(call, stream);
    pthread_mutex_lock(&lock);
    if (event->region != region)
        event->number = next_number++;
    event->region = region;
    event->stream = index;
    struct nb_capture_operation operation = {
        .kind = NB_OPERATION_EVENT_RECORD, .stream = index, .as.event.event = event->number};
    pthread_mutex_unlock(&lock);
    nb_capture_append_operation(&operation, NULL, 0);
}

/* Before and after either form of cuEventRecord. */
static bool begin_record(const struct nb_call *call, CUevent handle, CUstream stream)
{
    if (call->thread == NULL || nb_stream_is_captured(call, stream))
        return false;
    const struct event *event = nb_handle_map_get(&events, nb_handle(handle));
    if (event != NULL && event->keeps_time)
        nb_region_before_timing_event(nb_capture_stream_key(call, stream));
    return true;
}

static void end_record(const struct nb_call *call, bool runs, CUresult result, CUevent handle,
                       CUstream stream)
{
    if (!nb_capture_is_in_region(call, result))
        return;
    if (runs)
        append_record(call, handle, stream);
    else
        forget_record(handle);
}

CUresult nb_wrap_when_recording_event_record(const struct nb_call *call, nb_cuEventRecord_t real,
                                             CUevent hEvent, CUstream hStream)
{
    const bool runs = begin_record(call, hEvent, hStream);
    const CUresult result = real(hEvent, hStream);
    end_record(call, runs, result, hEvent, hStream);
    return result;
}

CUresult nb_wrap_when_recording_event_record_flags(const struct nb_call *call,
                                                   nb_cuEventRecordWithFlags_t real, CUevent hEvent,
                                                   CUstream hStream, unsigned int flags)
{
    const bool runs = begin_record(call, hEvent, hStream);
    const CUresult result = real(hEvent, hStream, flags);
    end_record(call, runs, result, hEvent, hStream);
    return result;
}

/* An event whose last record came before the region was complete when the region began, so a wait for it
 * needs no operation. Ask whether the stream is capturing after the call: waiting for an event of a stream
 * capture makes the stream part of that capture. */
CUresult nb_wrap_when_recording_stream_wait_event(const struct nb_call *call, nb_cuStreamWaitEvent_t real,
                                                  CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    struct event event;
    const CUresult result = real(hStream, hEvent, Flags);
    if (!nb_capture_is_in_region(call, result) || nb_stream_is_captured(call, hStream) ||
        !find_record_in_region(hEvent, &event))
        return result;
    struct nb_capture_operation operation = {.kind = NB_OPERATION_EVENT_WAIT,
                                             .stream = nb_capture_write_stream(call, hStream),
                                             .as.event.event = event.number};
    nb_capture_append_operation(&operation, NULL, 0);
    return result;
}

/* For cuEventSynchronize, and for cuEventQuery on a complete event. Recorded as a wait for all work of the
 * event's stream, which may be more than the host waited for. */
CUresult nb_wrap_when_recording_event_wait(const struct nb_call *call, nb_cuEventQuery_t real, CUevent hEvent)
{
    struct event event;
    const CUresult result = real(hEvent);
    if (nb_capture_is_in_region(call, result) && find_record_in_region(hEvent, &event))
        nb_capture_synchronize(event.stream);
    return result;
}

CUresult nb_wrap_when_recording_event_create(const struct nb_call *call, nb_cuEventCreate_t real,
                                             CUevent *phEvent, unsigned int Flags)
{
    const CUresult result = real(phEvent, Flags);
    if (result == CUDA_SUCCESS && call->thread != NULL)
        add(*phEvent, (Flags & CU_EVENT_DISABLE_TIMING) == 0);
    return result;
}

/* Forget the event before the driver destroys it: another thread may get its handle at once. */
CUresult nb_wrap_when_recording_event_destroy(const struct nb_call *call, nb_cuEventDestroy_t real,
                                              CUevent hEvent)
{
    if (call->thread != NULL)
        nb_handle_map_set(&events, nb_handle(hEvent), NULL);
    return real(hEvent);
}
