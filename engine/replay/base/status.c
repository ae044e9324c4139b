/* Errors, memory and waiting for all parts of the engine. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "replay/base/engine.h"

int nb_fail(struct nb_replay *replay, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(replay->error, NB_REPLAY_TEXT, format, arguments);
    va_end(arguments);
    if (status == NB_REPLAY_FAILED || status == NB_REPLAY_TIMEOUT || status == NB_REPLAY_NO_DRIVER)
        replay->gone = status;
    return status;
}

int nb_called(struct nb_replay *replay, CUresult result, const char *call)
{
    const int status = nb_driver_status(&replay->driver, result, call, replay->error);
    if (status == NB_REPLAY_FAILED || status == NB_REPLAY_NO_DRIVER)
        replay->gone = status;
    return status;
}

void nb_note(struct nb_replay *replay, const char *format, ...)
{
    if (replay->note_count == NB_NOTES_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(replay->notes[replay->note_count++], NB_NOTE_BYTES, format, arguments);
    va_end(arguments);
}

int nb_begin(struct nb_replay *replay, char *error)
{
    replay->error = error;
    error[0] = '\0';
    if (replay->gone != NB_REPLAY_OK)
        return nb_fail(replay, replay->gone, "an earlier error ended the context; replay in a new process");
    if (!replay->prepared)
        return nb_fail(replay, NB_REPLAY_OURS, "nothing is prepared yet");
    return NB_REPLAY_OK;
}

void *nb_new(struct nb_replay *replay, uint64_t count, size_t bytes)
{
    if (count == 0)
        return NULL;
    void *memory = count > SIZE_MAX ? NULL : calloc((size_t)count, bytes);
    if (memory == NULL)
        nb_fail(replay, NB_REPLAY_CANNOT, "out of host memory: %llu times %zu bytes",
                (unsigned long long)count, bytes);
    return memory;
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

enum { SPIN_NS = 2000000, NAP_NS = 50000 };

static CUresult ask_stream(const struct nb_driver *driver, void *stream)
{
    return driver->cuStreamQuery(stream);
}

static CUresult ask_event(const struct nb_driver *driver, void *event)
{
    return driver->cuEventQuery(event);
}

/* Polls, because a driver's own wait cannot be abandoned. Spins at first, so that a sample's end is seen at
 * once. */
static int wait_for(struct nb_replay *replay, CUresult (*ask)(const struct nb_driver *, void *), void *handle,
                    uint32_t timeout_ms, const char *doing)
{
    const uint64_t began = replay->driver.now_ns();
    for (;;) {
        const CUresult result = ask(&replay->driver, handle);
        if (result == CUDA_SUCCESS)
            return NB_REPLAY_OK;
        if (result != CUDA_ERROR_NOT_READY)
            return nb_fail(replay, nb_failure_status(result), "%s failed: %s (%d)", doing,
                           nb_driver_name(&replay->driver, result), (int)result);
        const uint64_t waited = replay->driver.now_ns() - began;
        if (waited > timeout_ms * UINT64_C(1000000))
            return nb_fail(replay, NB_REPLAY_TIMEOUT, "%s did not end in %u ms", doing, timeout_ms);
        if (waited > SPIN_NS)
            nanosleep(&(const struct timespec){.tv_nsec = NAP_NS}, NULL);
        else
            sched_yield();
    }
}

int nb_wait(struct nb_replay *replay, CUstream stream, uint32_t timeout_ms, const char *doing)
{
    return wait_for(replay, ask_stream, stream, timeout_ms, doing);
}

int nb_wait_event(struct nb_replay *replay, CUevent event, uint32_t timeout_ms, const char *doing)
{
    return wait_for(replay, ask_event, event, timeout_ms, doing);
}
