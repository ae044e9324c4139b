/* The content of caches when a sample begins is part of the measurement.
 *
 * Restoring writes, so its last lines are dirty in the L2 cache, and the sample would pay for writing them
 * back (4.8 us of 13.2 us on an H200; docs/adr/0009). Reading more clean memory than the cache holds evicts
 * them; the lines that the sample evicts are then clean. */
#include "replay/sample/cold.h"

#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/host_reads.h"
#include "replay/rebuild/memory.h"
#include "replay/rebuild/operations.h"
#include "replay/sample/priority.h"
#include "replay/sample/rotation.h"
#include "replay/sample/utility.h"
#include "replay/state/inputs.h"
#include "replay/state/staging.h"
#include "replay/state/vault.h"

enum {
    SCRATCH_FACTOR = 3, /* caches' worth of scratch memory: replacement is not least-recently-used */
    TOUCHED_RANGES = 16 /* touched or read; each is a launch behind the kernel that holds the stream */
};

uint64_t nb_cold_scratch_bytes(const struct nb_replay *replay)
{
    return replay->options.cold == NB_COLD_NONE ? 0 : SCRATCH_FACTOR * (uint64_t)replay->facts.l2_bytes;
}

uint32_t nb_cold_sets(struct nb_replay *replay)
{
    const uint64_t footprint = replay->memory.mapped_bytes;
    const uint32_t requested = replay->options.rotating_count;
    if (footprint == 0 || (replay->options.cold != NB_COLD_REMAP && replay->options.cold != NB_COLD_ROTATE))
        return 1;
    if (replay->options.cold == NB_COLD_REMAP)
        return 2;
    if (requested == 0)
        return nb_rotation_by_cache(footprint, replay->facts.l2_bytes, replay->facts.free_bytes);
    const uint32_t count = nb_rotation_as_asked(requested, footprint);
    if (count < requested)
        nb_note(replay,
                "the rotating count is %u instead of %u: all copies together take at most 2 GiB, as "
                "Composable Kernel's do",
                count, requested);
    return count;
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

/* A flush writes half 0 and reads half 1. */
static int write_scratch(struct nb_replay *replay, uint32_t half)
{
    const struct nb_cold_state *cold = &replay->cold;
    const unsigned noise =
        (unsigned)nb_inputs_noise(replay); /* equal lines might be told from written ones */
    return NB_CALL(replay, cuMemsetD32Async, cold->scratch + half * cold->scratch_bytes, noise,
                   (size_t)cold->scratch_bytes / sizeof noise, replay->streams.timed);
}

static int read_clean(struct nb_replay *replay)
{
    return nb_utility_read(replay, replay->cold.scratch + replay->cold.scratch_bytes,
                           replay->cold.scratch_bytes);
}

static int write_state(struct nb_replay *replay, uint32_t set)
{
    replay->memory.sets[set].stale = false;
    return nb_memory_restore(replay, set, replay->streams.timed);
}

/* Write what differs from sample to sample: inputs, poison, and globals. With `strict` globals of all copies
 * of the code, because a copy that does not run could keep something for one that does. */
static int write_inputs(struct nb_replay *replay, uint32_t set, uint32_t copy, uint32_t inputs)
{
    const CUstream stream = replay->streams.timed;
    replay->memory.sets[set].stale = true; /* the region is about to run on it */
    NB_TRY(nb_temporaries_fill(replay));
    NB_TRY(nb_inputs_write_memory(replay, inputs, set, stream));
    for (uint32_t i = 0; i < replay->code.copy_count; i++) {
        if (i != copy && replay->options.strict == 0)
            continue;
        if (!replay->cold.follows)
            NB_TRY(nb_globals_restore(replay, i, stream));
        NB_TRY(nb_inputs_write_globals(replay, inputs, i, stream));
    }
    return NB_REPLAY_OK;
}

int nb_cold_restore(struct nb_replay *replay, uint32_t copy, uint32_t inputs)
{
    NB_TRY(nb_inputs_check_unknown(replay, inputs));
    NB_TRY(nb_memory_switch(replay, 0));
    NB_TRY(nb_vault_open(replay));
    NB_TRY(write_state(replay, replay->memory.current));
    return write_inputs(replay, replay->memory.current, copy, inputs);
}

/* Choose the next set. With two sets it is the other one, restored now. Rotating sets were restored long ago;
 * the set that was used last is restored now. */
static int restore_next(struct nb_replay *replay, uint32_t *next)
{
    const struct nb_memory *memory = &replay->memory;
    const bool rotates = replay->options.cold == NB_COLD_ROTATE;
    if (replay->cold.follows) {
        *next = memory->current;
        return NB_REPLAY_OK;
    }
    *next = rotates ? nb_rotation_index(replay->samples, memory->set_count)
                    : (memory->current + 1) % memory->set_count;
    for (uint32_t i = 0; i < memory->set_count; i++) {
        const bool is_due = rotates || i == *next;
        if (is_due && memory->sets[i].stale)
            NB_TRY(write_state(replay, i));
    }
    return NB_REPLAY_OK;
}

/* Overwrite the engine's memory that stays mapped while the region runs, so that a sample cannot leave
 * anything there for the next one (vault.h). Chilling then writes half 0 of the scratch memory, which evicts
 * the lines written here. */
static int forget(struct nb_replay *replay)
{
    if (replay->options.strict == 0)
        return NB_REPLAY_OK;
    NB_TRY(nb_utility_forget(replay));
    return replay->cold.scratch != 0 ? write_scratch(replay, 1) : NB_REPLAY_OK;
}

int nb_cold_make_ready(struct nb_replay *replay, uint32_t copy, uint32_t inputs)
{
    uint32_t next = 0;
    NB_TRY(nb_vault_open(replay));
    if (replay->persists)
        NB_TRY(NB_CALL(replay, cuCtxResetPersistingL2Cache));
    NB_TRY(restore_next(replay, &next));
    NB_TRY(write_inputs(replay, next, copy, inputs));
    NB_TRY(forget(replay));
    if (replay->options.cold != NB_COLD_NONE)
        NB_TRY(nb_priority_reset(replay));
    NB_TRY(nb_wait(replay, replay->streams.timed, NB_OWN_WORK_MS, "restoring the state"));
    if (replay->options.strict != 0) {
        nb_staging_scrub(replay);
        nb_operations_forget(replay);
    }
    nb_host_reads_reset(replay);
    NB_TRY(nb_memory_switch(replay, next));
    return nb_vault_close(replay);
}

/* Unmapping also empties the caches of address translation, for which a kernel in a program that keeps its
 * buffers does not pay (1.3 us on an H200; docs/adr/0009). One access per page fills them again. */
static int touch_state(struct nb_replay *replay)
{
    const struct nb_memory *memory = &replay->memory;
    for (uint32_t i = 0; i < memory->range_count && i < TOUCHED_RANGES; i++)
        NB_TRY(nb_utility_touch(replay, memory->ranges[i].address, memory->ranges[i].bytes, memory->granule));
    return NB_REPLAY_OK;
}

/* A warm sample follows the same kernels as a cold one, so that the same lines are clean and the same traces
 * of earlier samples are gone; then its memory is read into the cache. */
static int read_state(struct nb_replay *replay)
{
    const struct nb_memory *memory = &replay->memory;
    for (uint32_t i = 0; i < memory->range_count && i < TOUCHED_RANGES; i++)
        NB_TRY(nb_utility_read(replay, memory->ranges[i].address, memory->ranges[i].bytes));
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_warm(struct nb_replay *replay, uint32_t warm, char *error)
{
    NB_TRY(nb_begin(replay, error));
    replay->cold.warm = warm != 0;
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_follow(struct nb_replay *replay, uint32_t follows, char *error)
{
    NB_TRY(nb_begin(replay, error));
    replay->cold.follows = follows != 0;
    return NB_REPLAY_OK;
}

int nb_cold_chill(struct nb_replay *replay)
{
    const uint32_t mode = replay->options.cold;
    if (replay->options.guard != 0)
        NB_TRY(touch_state(replay));
    if (mode == NB_COLD_FLUSH || mode == NB_COLD_MEMSET)
        NB_TRY(write_scratch(replay, 0));
    if (mode != NB_COLD_NONE && mode != NB_COLD_MEMSET)
        NB_TRY(read_clean(replay));
    if (replay->cold.warm)
        NB_TRY(read_state(replay));
    /* Behind the kernels above: shared memory and the L1 cache are one memory. */
    if (replay->options.scrub != 0)
        NB_TRY(nb_utility_scrub(replay, (uint32_t)nb_inputs_noise(replay)));
    return nb_utility_flush(replay); /* last, because the kernels above are in the instruction cache, too */
}

void nb_cold_close(struct nb_replay *replay)
{
    if (replay->gone == NB_REPLAY_OK && replay->cold.scratch != 0)
        replay->driver.cuMemFree_v2(replay->cold.scratch);
}
