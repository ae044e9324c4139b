#include "cuda/capture/host_read.h"

#include <stdatomic.h>
#include <time.h>

#include "core/driver/slots.h"
#include "core/wire/capture_format.h"
#include "cuda/kernel/stream.h"
#include "real.h"
#include "surface.h"

enum { WAIT_S = 10, NAP_NS = 20000 };

static _Atomic uint64_t counted_bytes;
static atomic_uint count;

bool nb_host_read_count(uint64_t bytes)
{
    return bytes <= NB_HOST_READ_BYTES_MAX &&
           atomic_fetch_add(&counted_bytes, bytes) + bytes <= NB_HOST_READ_BYTES_MAX &&
           atomic_fetch_add(&count, 1) < NB_HOST_READS_MAX;
}

static bool poll_stream(CUstream stream)
{
    struct timespec began, now;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (;;) {
        const CUresult result = NB_REAL(cuStreamQuery)(stream);
        if (result != CUDA_ERROR_NOT_READY)
            return result == CUDA_SUCCESS;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - began.tv_sec > WAIT_S)
            return false;
        nanosleep(&(const struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

/* Asking a stream would invalidate another thread's stream capture in the global mode, but not in the relaxed
 * mode. */
bool nb_host_read_wait(const struct nb_call *call, CUstream stream)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool is_relaxed = NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS;
    const bool is_idle = poll_stream(nb_stream_resolve(call, stream));
    if (is_relaxed)
        NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return is_idle;
}

static void reset(void)
{
    atomic_store(&counted_bytes, 0);
    atomic_store(&count, 0);
}

const struct nb_component nb_host_read_component = {.reset = reset};
