/* The list of all captures, and the calls that each capture forbids to other threads. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/core/log.h"
#include "driver/core/state.h"
#include "driver/core/thread.h"

static struct {
    pthread_mutex_t lock;
    struct sim_capture *first;
    atomic_uint count; /* calls take no lock while this is 0 */
} captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sim_capture_list(struct sim_capture *capture)
{
    pthread_mutex_lock(&captures.lock);
    capture->next = captures.first;
    captures.first = capture;
    atomic_fetch_add(&captures.count, 1);
    pthread_mutex_unlock(&captures.lock);
}

void sim_capture_unlist(struct sim_capture *capture)
{
    pthread_mutex_lock(&captures.lock);
    for (struct sim_capture **link = &captures.first; *link != NULL; link = &(*link)->next)
        if (*link == capture) {
            *link = capture->next;
            atomic_fetch_sub(&captures.count, 1);
            break;
        }
    pthread_mutex_unlock(&captures.lock);
}

bool sim_capture_uses_graph(const struct sim_graph *graph)
{
    pthread_mutex_lock(&captures.lock);
    const struct sim_capture *found = captures.first;
    while (found != NULL && found->graph != graph)
        found = found->next;
    pthread_mutex_unlock(&captures.lock);
    return found != NULL;
}

bool sim_capture_is_active(uint64_t id, bool invalidate)
{
    pthread_mutex_lock(&captures.lock);
    struct sim_capture *found = captures.first;
    while (found != NULL && found->id != id)
        found = found->next;
    if (found != NULL && invalidate)
        atomic_store(&found->recorder.invalidated, true);
    pthread_mutex_unlock(&captures.lock);
    return found != NULL;
}

static bool conflicts(const struct sim_capture *capture, const struct sim_thread *self)
{
    if (capture->thread == self->id)
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return self->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult sim_capture_check_unsafe(void)
{
    if (atomic_load_explicit(&captures.count, memory_order_relaxed) == 0)
        return CUDA_SUCCESS;
    const struct sim_thread *self = sim_thread_self();
    if (self == NULL || self->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&captures.lock);
    for (struct sim_capture *capture = captures.first; capture != NULL; capture = capture->next)
        if (conflicts(capture, self)) {
            atomic_store(&capture->recorder.invalidated, true);
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    pthread_mutex_unlock(&captures.lock);
    if (result != CUDA_SUCCESS)
        sim_log_error("The call is unsafe during stream capture: see cuThreadExchangeStreamCaptureMode");
    return result;
}

CUresult sim_enter_unsafe(struct sim_context **context)
{
    const CUresult result = sim_enter(context);
    return result == CUDA_SUCCESS ? sim_capture_check_unsafe() : result;
}

/* An H200's driver accepts any number as a mode, and needs no context. A fault does not matter either. */
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (mode == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_thread *self = sim_thread_self();
    if (self == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUstreamCaptureMode before = self->capture_mode;
    self->capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
