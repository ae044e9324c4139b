/* The streams of a region, and where the host waited for them. */
#include <cuda.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "cuda/capture/capture.h"
#include "cuda/kernel/handle.h"
#include "real.h"
#include "special.h"
#include "cuda/kernel/stream.h"
#include "surface.h"

struct used_stream {
    uint64_t key; /* 0: destroyed */
    uint32_t index;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct used_stream *used; /* few: a search is short */
static uint32_t used_count, used_room;
static CUcontext region_context;   /* of the region's first stream */
static _Atomic uint64_t last_join; /* operations up to it << 32 | its stream */

/* A thread's default stream is another stream in each thread. */
uint64_t nb_capture_stream_key(const struct nb_call *call, CUstream stream)
{
    const CUstream meant = nb_stream_of(call, stream);
    return meant == CU_STREAM_PER_THREAD ? (uint64_t)call->thread->ring->thread << 32 | nb_handle(meant)
                                         : nb_handle(meant);
}

static uint32_t find(uint64_t key)
{
    for (uint32_t i = 0; i < used_count; i++)
        if (used[i].key == key)
            return used[i].index;
    return NB_NOTHING;
}

uint32_t nb_capture_stream_used(const struct nb_call *call, CUstream stream)
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
    element.handle |= (uint64_t)used_count << 56; /* tells it from a destroyed one of the same handle */
    if (used_count == used_room) {
        const uint32_t room = used_room != 0 ? 2 * used_room : 16;
        struct used_stream *larger = realloc(used, room * sizeof *larger);
        if (larger == NULL)
            return NB_NOTHING;
        used = larger;
        used_room = room;
    }
    const uint32_t index = nb_recording_append(NB_CAPTURE_STREAM, &piece, 1);
    used[used_count++] = (struct used_stream){key, index};
    return index;
}

/* What a replay's stream is made with, and what it cannot be made with. */
static struct nb_capture_stream describe(const struct nb_call *call, CUstream stream, uint64_t key)
{
    struct nb_capture_stream element = {.handle = key, .kind = NB_CAPTURE_STREAM_CREATED};
    const char *refused = nb_vendor_stream_refused(stream);
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
    if (refused != NULL)
        nb_capture_refuse(call, refused);
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
        nb_capture_refuse(call, "gives work to a stream of another context; a replay has one");
}

uint32_t nb_capture_stream(const struct nb_call *call, CUstream stream)
{
    const uint64_t key = nb_capture_stream_key(call, stream);
    const int saved = errno;
    stream = nb_stream_of(call, stream);
    check_context(call, stream);
    pthread_mutex_lock(&lock);
    uint32_t index = find(key);
    pthread_mutex_unlock(&lock);
    if (index == NB_NOTHING) {
        const struct nb_capture_stream element = describe(call, stream, key);
        pthread_mutex_lock(&lock);
        index = find(key); /* another thread may have been first */
        if (index == NB_NOTHING)
            index = add(element, key);
        pthread_mutex_unlock(&lock);
    }
    errno = saved;
    return index;
}

/* The driver may give its handle to another stream. */
static void forget(uint64_t key)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < used_count; i++)
        if (used[i].key == key)
            used[i].key = 0;
    pthread_mutex_unlock(&lock);
}

void nb_capture_stream_reset(void)
{
    pthread_mutex_lock(&lock);
    used_count = 0;
    region_context = NULL;
    pthread_mutex_unlock(&lock);
    atomic_store(&last_join, 0);
}

/* One that has nothing before it, or only another that says as much, says nothing. */
static bool is_join_needed(uint32_t stream)
{
    const uint32_t operations = nb_recording_count(NB_CAPTURE_OPERATION);
    const uint64_t last = atomic_load(&last_join);
    const uint32_t last_stream = (uint32_t)last;
    return operations != 0 &&
           (last >> 32 != operations || (last_stream != NB_NOTHING && last_stream != stream));
}

void nb_capture_join(uint32_t stream)
{
    struct nb_capture_operation operation = {.kind = NB_OPERATION_JOIN, .stream = stream};
    if (!is_join_needed(stream))
        return;
    const uint32_t index = nb_capture_operation(&operation, NULL, 0);
    atomic_store(&last_join, (uint64_t)(index + 1) << 32 | stream);
}

bool nb_capture_announce(const struct nb_call *call, CUstream stream)
{
    if (call->thread == NULL || nb_stream_is_captured(call, stream))
        return false;
    nb_region_before_operation(NULL);
    return nb_region_is_open();
}

static void stream_waited(const struct nb_call *call, CUstream stream)
{
    if (nb_recording_count(NB_CAPTURE_OPERATION) == 0)
        return;
    /* The legacy stream stands for all that it waits for, whether or not it has work of its own. */
    const uint32_t index = nb_stream_of(call, stream) == CU_STREAM_LEGACY
                               ? nb_capture_stream(call, stream)
                               : nb_capture_stream_used(call, stream);
    if (index != NB_NOTHING)
        nb_capture_join(index);
}

CUresult nb_through_context_wait(const struct nb_call *call, nb_cuCtxSynchronize_t real)
{
    const CUresult result = real();
    if (nb_capture_happened(call, result))
        nb_capture_join(NB_NOTHING);
    return result;
}

#if CUDA_VERSION >= 13000
CUresult nb_through_context_wait_of(const struct nb_call *call, nb_cuCtxSynchronize_v2_t real, CUcontext ctx)
{
    const CUresult result = real(ctx);
    if (nb_capture_happened(call, result))
        nb_capture_join(NB_NOTHING);
    return result;
}
#endif

/* cuStreamSynchronize, and cuStreamQuery where all work is done. */
CUresult nb_through_stream_wait(const struct nb_call *call, nb_cuStreamQuery_t real, CUstream hStream)
{
    const CUresult result = real(hStream);
    if (nb_capture_happened(call, result))
        stream_waited(call, hStream);
    return result;
}

CUresult nb_through_stream_destroy(const struct nb_call *call, nb_cuStreamDestroy_t real, CUstream hStream)
{
    const CUresult result = real(hStream);
    if (nb_capture_happened(call, result))
        forget(nb_capture_stream_key(call, hStream));
    return result;
}
