/* Allocations are written when the region ends: only then is it known which of them still exist. */
#include "cuda/capture/allocation.h"

#include <pthread.h>

#include "core/arena/arena.h"
#include "core/base/vector.h"
#include "core/region/raw_capture.h"
#include "core/region/region.h"
#include "core/region/region_about.h"
#include "core/wire/capture_format.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nb_vector ended_blocks = NB_VECTOR_INITIALIZER(struct nb_arena_block); /* in the open region */
static uint64_t number_at_begin;

static void reset(void)
{
    pthread_mutex_lock(&lock);
    ended_blocks.count = 0;
    number_at_begin = nb_arena_count_made();
    pthread_mutex_unlock(&lock);
}

void nb_capture_end_block(const struct nb_arena_block *block)
{
    if (!nb_region_is_open())
        return;
    pthread_mutex_lock(&lock);
    const bool added = nb_vector_append(&ended_blocks, block);
    pthread_mutex_unlock(&lock);
    if (!added)
        nb_region_refuse("not enough memory to keep a freed allocation");
}

static void append(const struct nb_arena_block *block, uint32_t flags)
{
    if (block->number <= number_at_begin) {
        flags |= NB_CAPTURE_ALLOCATED_BEFORE;
        if (nb_region_is_given(block->address, block->bytes))
            flags |= NB_CAPTURE_ALLOCATED_BEFORE_UNKNOWN | NB_CAPTURE_ALLOCATED_AFTER_UNKNOWN;
    }
    const struct nb_capture_allocation allocation = {
        .address = block->address, .bytes = block->bytes, .flags = flags, .slot = block->slot};
    const struct nb_piece piece = {&allocation, sizeof allocation};
    nb_raw_capture_append(NB_CAPTURE_ALLOCATION, &piece, 1);
}

static void append_existing(const struct nb_arena_block *block, void *unknown)
{
    append(block, NB_CAPTURE_ALLOCATED_AFTER | *(const uint32_t *)unknown);
}

void nb_capture_write_allocations(bool stores_after)
{
    uint32_t unknown = stores_after ? 0 : NB_CAPTURE_ALLOCATED_AFTER_UNKNOWN;
    nb_arena_each(append_existing, &unknown);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ended_blocks.count; i++)
        append(nb_vector_item(&ended_blocks, i), unknown);
    pthread_mutex_unlock(&lock);
}

const struct nb_component nb_capture_allocation_component = {.locks = {&lock}, .reset = reset};
