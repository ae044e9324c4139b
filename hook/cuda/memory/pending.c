#include "cuda/memory/pending.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/driver/slots.h"
#include "core/region/region.h"
#include "cuda/memory/arena.h"
#include "cuda/memory/events.h"
#include "real.h"
#include "surface.h"

struct pending {
    struct pending *next;
    struct nb_arena_block block;
    CUevent event; /* NULL: waits for the whole device */
    uint64_t stream;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *first, **last = &first; /* oldest first */
static _Atomic uint64_t pending_bytes;

uint64_t nb_memory_pending_bytes(void)
{
    return atomic_load_explicit(&pending_bytes, memory_order_relaxed);
}

/* Under the lock. */
static void append(struct pending *list)
{
    *last = list;
    while (*last != NULL)
        last = &(*last)->next;
}

void nb_memory_defer(const struct nb_arena_block *block, CUevent event, uint64_t stream)
{
    struct pending *made = malloc(sizeof *made);
    if (made == NULL)
        return; /* never given to anybody again */
    *made = (struct pending){.block = *block, .event = event, .stream = stream};
    atomic_fetch_add_explicit(&pending_bytes, block->bytes, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    append(made);
    pthread_mutex_unlock(&lock);
}

/* It waits no longer. */
static void forget(struct pending *one)
{
    if (one->event != NULL)
        NB_REAL(cuEventDestroy_v2)(one->event);
    atomic_fetch_sub_explicit(&pending_bytes, one->block.bytes, memory_order_relaxed);
    free(one);
}

static uint64_t space_of(uint64_t bytes)
{
    const uint64_t unit = bytes < NB_ARENA_SMALL ? NB_ARENA_PIECE : NB_ARENA_GRANULE;
    return (bytes + unit - 1) / unit * unit;
}

bool nb_memory_reuse(struct nb_arena_block *block, uint64_t stream)
{
    const bool small = block->bytes < NB_ARENA_SMALL;
    pthread_mutex_lock(&lock);
    struct pending **link = &first;
    while (*link != NULL && (stream == 0 || (*link)->stream != stream || (*link)->event == NULL ||
                             ((*link)->block.bytes < NB_ARENA_SMALL) != small ||
                             space_of((*link)->block.bytes) != space_of(block->bytes)))
        link = &(*link)->next;
    struct pending *found = *link;
    if (found != NULL) {
        *link = found->next;
        if (last == &found->next)
            last = link;
    }
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return false;
    block->address = found->block.address;
    block->kind = NB_ARENA_MEMORY;
    const bool added = nb_arena_add(block);
    if (!added)
        nb_memory_defer(&found->block, NULL, 0);
    forget(found);
    return added;
}

static struct pending *take_all(void)
{
    pthread_mutex_lock(&lock);
    struct pending *all = first;
    first = NULL;
    last = &first;
    pthread_mutex_unlock(&lock);
    return all;
}

/* What was freed since stays behind what was freed before. */
static void put_back(struct pending *list)
{
    pthread_mutex_lock(&lock);
    struct pending *newer = first;
    last = &first;
    append(list);
    append(newer);
    pthread_mutex_unlock(&lock);
}

static void give_back(struct pending *one)
{
    nb_memory_give_back(&one->block);
    forget(one);
}

static bool is_done(const struct pending *one, bool wait)
{
    if (one->event == NULL)
        return wait && NB_REAL(cuCtxSynchronize)() == CUDA_SUCCESS;
    return (wait ? NB_REAL(cuEventSynchronize)(one->event) : NB_REAL(cuEventQuery)(one->event)) ==
           CUDA_SUCCESS;
}

/* In a region memory goes from one stream to another only if there is no other: a replay has no host that
 * finds an event done, so it must have waited for all. */
void nb_memory_reap(bool wait)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (nb_region_is_open() && !wait)
        return;
    struct pending *list = take_all();
    if (list == NULL)
        return;
    const bool relaxed = NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS;
    struct pending *kept = NULL, **end = &kept;
    while (list != NULL) {
        struct pending *one = list;
        list = one->next;
        if (is_done(one, wait)) {
            give_back(one);
            continue;
        }
        *end = one;
        one->next = NULL;
        end = &one->next;
        if (!wait) { /* what was freed later is likely to take longer */
            one->next = list;
            break;
        }
    }
    put_back(kept);
    if (relaxed)
        NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    if (nb_region_is_open())
        nb_memory_events()->waited();
}

void nb_memory_reap_idle(void)
{
    for (struct pending *list = take_all(), *next; list != NULL; list = next) {
        next = list->next;
        give_back(list);
    }
}

const struct nb_component nb_memory_pending_component = {.locks = {&lock}};
