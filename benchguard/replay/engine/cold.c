/* What a cache holds when a sample begins is part of what is measured.
 *
 * Restoring writes, so the last lines of it are in the L2 cache, dirty: the sample would pay for writing them
 * back (an H200 charged 4.8 us to one of 13.2 us; docs/adr/0009). Reading clean memory of more than the
 * cache's size drives them out; nothing that the sample drives out has to be written then. */
#include "cold.h"

#include "engine.h"

enum {
    SCRATCH_FACTOR = 3,     /* caches' worth of scratch memory: replacement is not least-recently-used */
    ROTATE_FACTOR = 5,      /* caches' worth of other state between two uses of a copy */
    ROTATE_MEMORY_SHARE = 2 /* of free memory, at most one in so many bytes */
};

uint64_t nb_cold_scratch_bytes(const struct nb_replay *replay)
{
    return replay->options.cold == NB_COLD_NONE ? 0 : SCRATCH_FACTOR * (uint64_t)replay->facts.l2_bytes;
}

uint32_t nb_cold_sets(const struct nb_replay *replay)
{
    const uint64_t footprint = replay->memory.mapped_bytes;
    if (footprint == 0 || (replay->options.cold != NB_COLD_REMAP && replay->options.cold != NB_COLD_ROTATE))
        return 1;
    if (replay->options.cold == NB_COLD_REMAP)
        return 2;
    const uint64_t wanted =
        (ROTATE_FACTOR * (uint64_t)replay->facts.l2_bytes + footprint - 1) / footprint + 1;
    const uint64_t most = replay->facts.free_bytes / ROTATE_MEMORY_SHARE / footprint;
    return (uint32_t)(most < 2 ? 2 : wanted < most ? wanted : most);
}

int nb_cold_build(struct nb_replay *replay)
{
    struct nb_cold_state *cold = &replay->cold;
    cold->scratch_bytes = nb_cold_scratch_bytes(replay);
    if (cold->scratch_bytes == 0)
        return NB_REPLAY_OK;
    NB_TRY(NB_CALL(replay, cuMemAlloc_v2, &cold->scratch, (size_t)(2 * cold->scratch_bytes)));
    return NB_CALL(replay, cuMemsetD8Async, cold->scratch, 0, (size_t)(2 * cold->scratch_bytes),
                   replay->streams.timed);
}

static int write_scratch(struct nb_replay *replay)
{
    const unsigned char value =
        (unsigned char)replay->samples; /* equal lines might be told from written ones */
    return NB_CALL(replay, cuMemsetD8Async, replay->cold.scratch, value, (size_t)replay->cold.scratch_bytes,
                   replay->streams.timed);
}

/* The half that is never written. */
static int read_clean(struct nb_replay *replay)
{
    return nb_utility_read(replay, replay->cold.scratch + replay->cold.scratch_bytes,
                           replay->cold.scratch_bytes);
}

static int restore_memory(struct nb_replay *replay, uint32_t index, uint32_t inputs)
{
    struct nb_set *set = &replay->memory.sets[index];
    NB_TRY(nb_memory_restore(replay, index, replay->streams.timed));
    NB_TRY(nb_inputs_write_memory(replay, inputs, index, replay->streams.timed));
    set->stale = false;
    set->inputs = inputs;
    return NB_REPLAY_OK;
}

int nb_cold_restore(struct nb_replay *replay, uint32_t copy, uint32_t inputs)
{
    const uint32_t current = replay->memory.current;
    NB_TRY(restore_memory(replay, current, inputs));
    NB_TRY(nb_variables_restore(replay, copy, replay->streams.timed));
    NB_TRY(nb_inputs_write_variables(replay, inputs, copy, replay->streams.timed));
    replay->memory.sets[current].stale = true; /* it is going to be used */
    return NB_REPLAY_OK;
}

/* The set after the current one is next. With two sets it is restored now; with many it was restored long
 * ago, and now the one that was used is. */
static int restore_next(struct nb_replay *replay, uint32_t *next)
{
    const struct nb_memory *memory = &replay->memory;
    *next = (memory->current + 1) % memory->set_count;
    for (uint32_t i = 0; i < memory->set_count; i++) {
        const bool wanted = replay->options.cold == NB_COLD_ROTATE || i == *next;
        if (wanted && memory->sets[i].stale)
            NB_TRY(restore_memory(replay, i, nb_inputs_draw(replay)));
    }
    return NB_REPLAY_OK;
}

int nb_cold_make_ready(struct nb_replay *replay, uint32_t copy, uint32_t *inputs)
{
    uint32_t next = 0;
    NB_TRY(NB_CALL(replay, cuCtxResetPersistingL2Cache));
    NB_TRY(restore_next(replay, &next));
    *inputs = replay->memory.sets[next].inputs;
    replay->memory.sets[next].stale = true;
    NB_TRY(nb_variables_restore(replay, copy, replay->streams.timed));
    NB_TRY(nb_inputs_write_variables(replay, *inputs, copy, replay->streams.timed));
    if (replay->options.scrub != 0)
        NB_TRY(nb_utility_scrub(replay));
    NB_TRY(nb_wait(replay, replay->streams.timed, NB_OWN_WORK_MS, "restoring the state"));
    return nb_memory_switch(replay, next);
}

int nb_cold_chill(struct nb_replay *replay)
{
    const uint32_t mode = replay->options.cold;
    if (mode == NB_COLD_FLUSH || mode == NB_COLD_MEMSET)
        NB_TRY(write_scratch(replay));
    if (mode != NB_COLD_NONE && mode != NB_COLD_MEMSET)
        NB_TRY(read_clean(replay));
    return NB_REPLAY_OK;
}

void nb_cold_close(struct nb_replay *replay)
{
    if (replay->gone == NB_REPLAY_OK && replay->cold.scratch != 0)
        replay->driver.cuMemFree_v2(replay->cold.scratch);
}
