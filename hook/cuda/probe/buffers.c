#include "cuda/probe/buffers.h"

#include <stdlib.h>

#include "core/driver/slots.h"
#include "core/probe/mailbox.h"
#include "real.h"
#include "surface.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static struct nb_probe_buffer *spare;
static uint64_t allocated;

static uint64_t rounded_capacity(uint64_t bytes)
{
    uint64_t capacity = 1u << 16;
    while (capacity < bytes)
        capacity *= 2;
    return capacity;
}

static bool allocate(struct nb_probe_buffer *buffer)
{
    void *host = NULL;
    if (NB_REAL(cuMemAlloc_v2)(&buffer->device, buffer->capacity) != CUDA_SUCCESS)
        return false;
    if (NB_REAL(cuMemHostAlloc)(&host, buffer->capacity,
                                CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS) {
        buffer->host = host;
        if (NB_REAL(cuEventCreate)(&buffer->event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
            return true;
        NB_REAL(cuMemFreeHost)(host);
    }
    NB_REAL(cuMemFree_v2)(buffer->device);
    return false;
}

/* Return the smallest buffer that is large enough. */
static struct nb_probe_buffer *take_spare(CUcontext context, uint64_t capacity)
{
    struct nb_probe_buffer **best = NULL;
    for (struct nb_probe_buffer **place = &spare; *place != NULL; place = &(*place)->next)
        if ((*place)->context == context && (*place)->capacity >= capacity &&
            (best == NULL || (*place)->capacity < (*best)->capacity))
            best = place;
    struct nb_probe_buffer *found = best != NULL ? *best : NULL;
    if (found != NULL)
        *best = found->next;
    return found;
}

struct nb_probe_buffer *nb_probe_take_buffer(CUcontext context, uint64_t bytes)
{
    const uint64_t capacity = rounded_capacity(bytes), limit = nb_probe_map_limit();
    pthread_mutex_lock(&lock);
    struct nb_probe_buffer *buffer = take_spare(context, capacity);
    const bool fits = capacity <= limit && allocated <= limit - capacity;
    if (buffer == NULL && fits)
        allocated += capacity;
    pthread_mutex_unlock(&lock);
    if (buffer != NULL || !fits)
        return buffer;
    buffer = calloc(1, sizeof *buffer);
    if (buffer != NULL) {
        buffer->context = context;
        buffer->capacity = capacity;
        if (allocate(buffer))
            return buffer;
        free(buffer);
    }
    pthread_mutex_lock(&lock);
    allocated -= capacity;
    pthread_mutex_unlock(&lock);
    return NULL;
}

void nb_probe_give_buffer(struct nb_probe_buffer *buffer)
{
    if (buffer == NULL)
        return;
    pthread_mutex_lock(&lock);
    buffer->next = spare;
    spare = buffer;
    pthread_mutex_unlock(&lock);
}

void nb_probe_drop_buffer(struct nb_probe_buffer *buffer)
{
    if (buffer == NULL)
        return;
    pthread_mutex_lock(&lock);
    allocated -= buffer->capacity;
    pthread_mutex_unlock(&lock);
    free(buffer);
}

void nb_probe_forget_buffers(CUcontext context)
{
    pthread_mutex_lock(&lock);
    for (struct nb_probe_buffer **place = &spare; *place != NULL;) {
        struct nb_probe_buffer *each = *place;
        if (context != NULL && each->context != context) {
            place = &each->next;
            continue;
        }
        *place = each->next;
        allocated -= each->capacity;
        free(each);
    }
    pthread_mutex_unlock(&lock);
}

static void forget(void)
{
    spare = NULL;
    allocated = 0;
}

const struct nb_component nb_probe_buffers_component = {.locks = {&lock}, .forget = forget};
