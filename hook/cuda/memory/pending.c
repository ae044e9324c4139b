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
static struct pending *first_entry, **last_link = &first_entry; /* oldest first */
static _Atomic uint64_t pending_bytes;

uint64_t nb_memory_pending_bytes(void)
{
    return atomic_load_explicit(&pending_bytes, memory_order_relaxed);
}

/* Call with the lock. */
static void append(struct pending *list)
{
    *last_link = list;
    while (*last_link != NULL)
        last_link = &(*last_link)->next;
}

void nb_memory_defer(const struct nb_arena_block *block, CUevent event, uint64_t stream)
{
    struct pending *entry = malloc(sizeof *entry);
    if (entry == NULL)
        return; /* leak the block: its addresses are never reused */
    *entry = (struct pending){.block = *block, .event = event, .stream = stream};
    atomic_fetch_add_explicit(&pending_bytes, block->bytes, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    append(entry);
    pthread_mutex_unlock(&lock);
}

/* Remove an entry whose block is reused or released. */
static void forget_entry(struct pending *entry)
{
    if (entry->event != NULL)
        NB_REAL(cuEventDestroy_v2)(entry->event);
    atomic_fetch_sub_explicit(&pending_bytes, entry->block.bytes, memory_order_relaxed);
    free(entry);
}

static uint64_t round_to_space(uint64_t bytes)
{
    const uint64_t unit = bytes < NB_ARENA_SMALL ? NB_ARENA_PIECE : NB_ARENA_GRANULE;
    return (bytes + unit - 1) / unit * unit;
}

bool nb_memory_reuse(struct nb_arena_block *block, uint64_t stream)
{
    const bool small = block->bytes < NB_ARENA_SMALL;
    pthread_mutex_lock(&lock);
    struct pending **link = &first_entry;
    while (*link != NULL && (stream == 0 || (*link)->stream != stream || (*link)->event == NULL ||
                             ((*link)->block.bytes < NB_ARENA_SMALL) != small ||
                             round_to_space((*link)->block.bytes) != round_to_space(block->bytes)))
        link = &(*link)->next;
    struct pending *match = *link;
    if (match != NULL) {
        *link = match->next;
        if (last_link == &match->next)
            last_link = link;
    }
    pthread_mutex_unlock(&lock);
    if (match == NULL)
        return false;
    block->address = match->block.address;
    block->kind = NB_ARENA_MEMORY;
    const bool added = nb_arena_add(block);
    if (!added)
        nb_memory_defer(&match->block, NULL, 0);
    forget_entry(match);
    return added;
}

static struct pending *take_entries(void)
{
    pthread_mutex_lock(&lock);
    struct pending *all = first_entry;
    first_entry = NULL;
    last_link = &first_entry;
    pthread_mutex_unlock(&lock);
    return all;
}

/* Blocks freed meanwhile stay behind blocks freed earlier. */
static void put_back(struct pending *list)
{
    pthread_mutex_lock(&lock);
    struct pending *newer = first_entry;
    last_link = &first_entry;
    append(list);
    append(newer);
    pthread_mutex_unlock(&lock);
}

static void release_entry(struct pending *entry)
{
    nb_memory_give_back(&entry->block);
    forget_entry(entry);
}

static bool is_done(const struct pending *entry, bool wait)
{
    if (entry->event == NULL)
        return wait && NB_REAL(cuCtxSynchronize)() == CUDA_SUCCESS;
    return (wait ? NB_REAL(cuEventSynchronize)(entry->event) : NB_REAL(cuEventQuery)(entry->event)) ==
           CUDA_SUCCESS;
}

/* In a region, move memory between streams only if none is left: a replay's host finds no event complete,
 * so the recorded host must have waited for all work. */
void nb_memory_reap(bool wait)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (nb_region_is_open() && !wait)
        return;
    struct pending *list = take_entries();
    if (list == NULL)
        return;
    const bool relaxed = NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS;
    struct pending *survivors = NULL, **end = &survivors;
    while (list != NULL) {
        struct pending *entry = list;
        list = entry->next;
        if (is_done(entry, wait)) {
            release_entry(entry);
            continue;
        }
        *end = entry;
        entry->next = NULL;
        end = &entry->next;
        if (!wait) { /* blocks freed later probably take longer */
            entry->next = list;
            break;
        }
    }
    put_back(survivors);
    if (relaxed)
        NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    if (nb_region_is_open())
        nb_memory_events()->waited();
}

void nb_memory_reap_idle(void)
{
    for (struct pending *list = take_entries(), *next; list != NULL; list = next) {
        next = list->next;
        release_entry(list);
    }
}

const struct nb_component nb_memory_pending_component = {.locks = {&lock}};
