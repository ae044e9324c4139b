#include "cuda/capture/stream.h"

#include <errno.h>
#include <pthread.h>

#include "core/base/vector.h"
#include "core/driver/slots.h"
#include "core/region/raw_capture.h"
#include "cuda/capture/operation.h"
#include "cuda/capture/refuse.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/stream.h"
#include "cuda/vendor.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* An item of `used_streams`. */
struct used_stream {
    uint64_t key; /* 0 if destroyed */
    uint32_t index;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nb_vector used_streams =
    NB_VECTOR_INITIALIZER(struct used_stream); /* few, so a linear search is fast */
static CUcontext region_context;               /* of the region's first stream */

/* The per-thread default stream is a different stream in each thread. */
uint64_t nb_capture_stream_key(const struct nb_call *call, CUstream stream)
{
    const CUstream meant = nb_stream_resolve(call, stream);
    return meant == CU_STREAM_PER_THREAD ? (uint64_t)call->thread->ring->thread << 32 | nb_handle(meant)
                                         : nb_handle(meant);
}

static uint32_t find(uint64_t key)
{
    for (size_t i = 0; i < used_streams.count; i++) {
        const struct used_stream *stream = nb_vector_item(&used_streams, i);
        if (stream->key == key)
            return stream->index;
    }
    return NB_NOTHING;
}

uint32_t nb_capture_find_stream(const struct nb_call *call, CUstream stream)
{
    const uint64_t key = nb_capture_stream_key(call, stream);
    pthread_mutex_lock(&lock);
    const uint32_t index = find(key);
    pthread_mutex_unlock(&lock);
    return index;
}

static uint32_t add(struct nb_capture_stream element, uint64_t key)
{
    const struct nb_piece piece = {&element, sizeof element};
    struct used_stream stream = {key, NB_NOTHING};
    element.handle |= (uint64_t)used_streams.count
                      << 56; /* distinguishes it from a destroyed stream with the same handle */
    if (!nb_vector_append(&used_streams, &stream))
        return NB_NOTHING;
    stream.index = nb_raw_capture_append(NB_CAPTURE_STREAM, &piece, 1);
    *(struct used_stream *)nb_vector_item(&used_streams, used_streams.count - 1) = stream;
    return stream.index;
}

/* Collect the properties that a replay's stream needs, and refuse properties that it cannot have. */
static struct nb_capture_stream describe(const struct nb_call *call, CUstream stream, uint64_t key)
{
    struct nb_capture_stream element = {.handle = key, .kind = NB_CAPTURE_STREAM_CREATED};
    const char *problem = nb_vendor_stream_problem(stream);
    CUstreamAttrValue value = {0};
    unsigned int flags = 0;
    int priority = 0;
    if (stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        element.kind = stream == CU_STREAM_LEGACY ? NB_CAPTURE_STREAM_LEGACY : NB_CAPTURE_STREAM_PER_THREAD;
    if (NB_REAL(cuStreamGetFlags)(stream, &flags) == CUDA_SUCCESS)
        element.flags = flags;
    if (NB_REAL(cuStreamGetPriority)(stream, &priority) == CUDA_SUCCESS)
        element.priority = priority;
    if (NB_REAL(cuStreamGetAttribute)(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value) ==
            CUDA_SUCCESS &&
        value.accessPolicyWindow.num_bytes != 0)
        nb_capture_refuse(call, "uses a stream with an access policy window, which is not recorded");
    if (problem != NULL)
        nb_capture_refuse(call, problem);
    return element;
}

static void check_context(const struct nb_call *call, CUstream stream)
{
    CUcontext context = NULL;
    if (NB_REAL(cuStreamGetCtx)(stream, &context) != CUDA_SUCCESS || context == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (region_context == NULL)
        region_context = context;
    const bool is_ours = region_context == context;
    pthread_mutex_unlock(&lock);
    if (!is_ours)
        nb_capture_refuse(call, "uses a stream of another context; a replay has one context");
}

uint32_t nb_capture_write_stream(const struct nb_call *call, CUstream stream)
{
    const uint64_t key = nb_capture_stream_key(call, stream);
    const int saved = errno;
    stream = nb_stream_resolve(call, stream);
    check_context(call, stream);
    pthread_mutex_lock(&lock);
    uint32_t index = find(key);
    pthread_mutex_unlock(&lock);
    if (index == NB_NOTHING) {
        const struct nb_capture_stream element = describe(call, stream, key);
        pthread_mutex_lock(&lock);
        index = find(key); /* another thread may have added it meanwhile */
        if (index == NB_NOTHING)
            index = add(element, key);
        pthread_mutex_unlock(&lock);
    }
    errno = saved;
    return index;
}

/* The driver may reuse the handle for another stream. */
static void forget(uint64_t key)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < used_streams.count; i++) {
        struct used_stream *stream = nb_vector_item(&used_streams, i);
        if (stream->key == key)
            stream->key = 0;
    }
    pthread_mutex_unlock(&lock);
}

static void reset(void)
{
    pthread_mutex_lock(&lock);
    used_streams.count = 0;
    region_context = NULL;
    pthread_mutex_unlock(&lock);
}

const struct nb_component nb_capture_stream_component = {.locks = {&lock}, .reset = reset};

static void append_wait(const struct nb_call *call, CUstream stream)
{
    if (nb_raw_capture_count(NB_CAPTURE_OPERATION) == 0)
        return;
    /* A wait for the legacy stream waits for other streams too, even if the legacy stream has no work of
     * its own. */
    const uint32_t index = nb_stream_resolve(call, stream) == CU_STREAM_LEGACY
                               ? nb_capture_write_stream(call, stream)
                               : nb_capture_find_stream(call, stream);
    if (index != NB_NOTHING)
        nb_capture_synchronize(index);
}

CUresult nb_wrap_when_recording_context_wait(const struct nb_call *call, nb_cuCtxSynchronize_t real)
{
    const CUresult result = real();
    if (nb_capture_is_in_region(call, result))
        nb_capture_synchronize(NB_NOTHING);
    return result;
}

#if CUDA_VERSION >= 13000
CUresult nb_wrap_when_recording_context_wait_of(const struct nb_call *call, nb_cuCtxSynchronize_v2_t real,
                                                CUcontext ctx)
{
    const CUresult result = real(ctx);
    if (nb_capture_is_in_region(call, result))
        nb_capture_synchronize(NB_NOTHING);
    return result;
}
#endif

/* For cuStreamSynchronize, and for cuStreamQuery on an idle stream. */
CUresult nb_wrap_when_recording_stream_wait(const struct nb_call *call, nb_cuStreamQuery_t real,
                                            CUstream hStream)
{
    const CUresult result = real(hStream);
    if (nb_capture_is_in_region(call, result))
        append_wait(call, hStream);
    return result;
}

CUresult nb_wrap_when_recording_stream_destroy(const struct nb_call *call, nb_cuStreamDestroy_t real,
                                               CUstream hStream)
{
    const CUresult result = real(hStream);
    if (nb_capture_is_in_region(call, result))
        forget(nb_capture_stream_key(call, hStream));
    return result;
}
