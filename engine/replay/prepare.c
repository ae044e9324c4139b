/* Opens a capture and rebuilds its state; the functions of replay.h that no other file implements. */
#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/base/device.h"
#include "replay/base/engine.h"
#include "replay/base/error.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/context_limits.h"
#include "replay/rebuild/memory.h"
#include "replay/rebuild/operations.h"
#include "replay/rebuild/streams.h"
#include "replay/sample/cold.h"
#include "replay/sample/loop.h"
#include "replay/sample/priority.h"
#include "replay/sample/utility.h"
#include "replay/state/copier.h"
#include "replay/state/inputs.h"
#include "replay/state/staging.h"
#include "replay/state/vault.h"

#define MIB(bytes) ((double)(bytes) / (1 << 20))

enum {
    CODE_COPIES = 8, /* for a cold instruction cache */
    INPUTS_SHARE = 2 /* input sets take at most half of the memory that the state leaves */
};

/* ---- refusals ------------------------------------------------------------------------------------------ */

static int write_refusals(struct nb_replay *replay)
{
    const struct nb_reader *reader = &replay->reader;
    replay->refusals = nb_new(replay, reader->refusal_count, sizeof *replay->refusals);
    if (replay->refusals == NULL && reader->refusal_count != 0)
        return NB_REPLAY_CANNOT;
    for (uint32_t i = 0; i < reader->refusal_count; i++) {
        char call[96], reason[320];
        nb_reader_text(reader, reader->refusals[i].call, call, sizeof call);
        nb_reader_text(reader, reader->refusals[i].reason, reason, sizeof reason);
        if ((reader->refusals[i].flags & NB_REFUSAL_ADDRESS) != 0)
            nb_note(replay, "after %u operations %s: %s; this replay fails if the kernel accesses it",
                    reader->refusals[i].operation, call, reason);
        else
            snprintf(replay->refusals[replay->refusal_count++], sizeof *replay->refusals,
                     "after %u operations %s: %s", reader->refusals[i].operation, call, reason);
    }
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_open(int descriptor, const struct nb_replay_limits *limits,
                                    struct nb_replay **replay, char *error)
{
    *replay = NULL;
    struct nb_replay *new_replay = calloc(1, sizeof *new_replay);
    if (new_replay == NULL)
        return nb_error(error, NB_REPLAY_CANNOT, "out of host memory");
    new_replay->error = error;
    int status = nb_reader_open(descriptor, limits, &new_replay->reader, error);
    if (status != NB_REPLAY_OK) {
        free(new_replay);
        return status;
    }
    status = write_refusals(new_replay);
    if (status != NB_REPLAY_OK) {
        nb_replay_close(new_replay);
        return status;
    }
    *replay = new_replay;
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT const char *nb_replay_refusal(const struct nb_replay *replay, uint32_t index)
{
    return index < replay->refusal_count ? replay->refusals[index] : NULL;
}

/* ---- preparing ----------------------------------------------------------------------------------------- */

static double ms_since(const struct nb_replay *replay, uint64_t began)
{
    return (double)(replay->driver.now_ns() - began) / 1e6;
}

static int check_options(struct nb_replay *replay)
{
    struct nb_replay_options *options = &replay->options;
    if (options->cold > NB_COLD_MEMSET)
        return nb_fail(replay, NB_REPLAY_OURS, "cold mode %u is unknown", options->cold);
    if (options->timeout_ms == 0 || options->prime_limit_ms == 0)
        return nb_fail(replay, NB_REPLAY_OURS, "the time limit is 0 ms");
    if (options->rotating_count != 0 && options->cold != NB_COLD_ROTATE)
        return nb_fail(replay, NB_REPLAY_OURS, "a rotating count without NB_COLD_ROTATE");
    if (options->strict != 0 && (options->cold == NB_COLD_REMAP || options->cold == NB_COLD_ROTATE))
        return nb_fail(replay, NB_REPLAY_OURS,
                       "strict cannot be combined with copies of the state, which kernels can reach");
    replay->inputs.noise = options->seed;
    return NB_REPLAY_OK;
}

/* All input sets are held if they leave half of the memory to the libraries and the region itself. Otherwise
 * each sample waits for its set to come over the bus. */
static bool holds_all(const struct nb_replay *replay, double rest)
{
    const struct nb_replay_options *options = &replay->options;
    return options->set_bytes == 0 || (double)options->input_bytes <= rest / INPUTS_SHARE;
}

static uint64_t held_bytes(const struct nb_replay *replay)
{
    return replay->inputs.one_set ? replay->options.set_bytes : replay->options.input_bytes;
}

static int check_room(struct nb_replay *replay, uint32_t set_count)
{
    const struct nb_memory *memory = &replay->memory;
    const uint64_t scratch = 2 * nb_cold_scratch_bytes(replay);
    size_t available = 0, total = 0;
    NB_TRY(NB_CALL(replay, cuMemGetInfo_v2, &available, &total));
    const double state =
        (double)memory->mapped_bytes * set_count + (double)memory->shadow_bytes + (double)scratch;
    replay->inputs.one_set = !holds_all(replay, (double)available - state);
    const double inputs = (double)held_bytes(replay), needed = state + inputs;
    if (needed <= (double)available)
        return NB_REPLAY_OK;
    return nb_fail(replay, NB_REPLAY_CANNOT,
                   "replaying needs %.1f MiB of device memory (state %u x %.1f, its copy %.1f, inputs %.1f, "
                   "scratch %.1f) "
                   "but %.1f MiB are free; free device memory%s",
                   MIB(needed), set_count, MIB(memory->mapped_bytes), MIB(memory->shadow_bytes), MIB(inputs),
                   MIB(scratch), MIB(available),
                   set_count > 1 ? ", or use --cold flush, which keeps the state once" : "");
}

static int rebuild_code(struct nb_replay *replay)
{
    NB_TRY(nb_limits_set(replay));
    NB_TRY(nb_utility_build(replay));
    NB_TRY(nb_priority_build(replay));
    return nb_code_load(replay, replay->options.cold_code != 0 ? CODE_COPIES : 1);
}

static int rebuild_memory(struct nb_replay *replay)
{
    struct nb_memory *memory = &replay->memory;
    NB_TRY(nb_memory_plan(replay));
    NB_TRY(nb_globals_plan(replay));
    const uint32_t set_count = nb_cold_sets(replay);
    NB_TRY(check_room(replay, set_count));
    NB_TRY(nb_memory_build(replay, set_count, nb_inputs_noise(replay)));
    NB_TRY(nb_temporaries_plan(replay));
    NB_TRY(nb_vault_reserve(replay, memory->shadow_bytes + held_bytes(replay)));
    if (memory->shadow_bytes != 0) {
        NB_TRY(nb_vault_take(replay, memory->shadow_bytes, &memory->shadow));
        NB_TRY(NB_CALL(replay, cuMemsetD8Async, memory->shadow, 0, (size_t)memory->shadow_bytes,
                       replay->streams.timed));
    }
    NB_TRY(nb_memory_upload(replay));
    NB_TRY(nb_globals_upload(replay));
    NB_TRY(nb_cold_build(replay));
    return nb_wait(replay, replay->streams.timed, NB_OWN_WORK_MS, "copying the state to the device");
}

static void tell(const struct nb_replay *replay, struct nb_replay_prepared *prepared)
{
    prepared->mapped_bytes = replay->memory.mapped_bytes * replay->memory.set_count;
    prepared->restored_bytes = replay->memory.mapped_bytes;
    for (uint32_t i = 0; i < replay->reader.global_count; i++)
        prepared->restored_bytes += replay->reader.globals[i].bytes;
    const struct nb_code_copy *code = &replay->code.copies[0];
    prepared->unlisted_globals = code->unlisted_count;
    for (uint32_t i = 0; i < code->unlisted_count; i++)
        prepared->restored_bytes += code->unlisted[i].bytes;
    prepared->unknown_globals = replay->code.unknown_globals;
    prepared->one_set = replay->inputs.one_set;
    prepared->copies = replay->memory.set_count;
    prepared->operations = replay->operations.programs[0].step_count;
    prepared->streams = replay->streams.used_count;
    prepared->primed = nb_loop_may_prime(replay);
    prepared->code_copies = replay->code.copy_count;
    prepared->flush_blocks = nb_utility_flush_blocks(replay);
    prepared->flushed = replay->utility.has_icache_inv;
}

/* Reserve addresses first, before any other memory of the engine can take them. */
static int rebuild(struct nb_replay *replay, struct nb_replay_prepared *prepared)
{
    uint64_t began = replay->driver.now_ns();
    NB_TRY(nb_device_open(replay));
    prepared->context_ms = ms_since(replay, began);
    began = replay->driver.now_ns();
    NB_TRY(nb_memory_reserve(replay));
    NB_TRY(rebuild_code(replay));
    prepared->modules_ms = ms_since(replay, began);
    began = replay->driver.now_ns();
    nb_copier_open(&replay->copier, nb_copier_wished());
    NB_TRY(nb_staging_build(replay));
    NB_TRY(rebuild_memory(replay));
    prepared->memory_ms = ms_since(replay, began);
    NB_TRY(nb_streams_build(replay));
    NB_TRY(nb_operations_build(replay));
    return nb_wait(replay, replay->streams.timed, NB_OWN_WORK_MS, "preparing");
}

NB_REPLAY_EXPORT int nb_replay_prepare(struct nb_replay *replay, const char *driver,
                                       const struct nb_replay_options *options,
                                       struct nb_replay_device *device, struct nb_replay_prepared *prepared,
                                       char *error)
{
    replay->error = error;
    error[0] = '\0';
    if (replay->opened)
        return nb_fail(replay, NB_REPLAY_OURS, "this replay is already prepared");
    replay->opened = true;
    replay->options = *options;
    *prepared = (struct nb_replay_prepared){0};
    NB_TRY(check_options(replay));
    NB_TRY(nb_driver_open(&replay->driver, driver, error));
    const uint64_t began = replay->driver.now_ns();
    NB_TRY(rebuild(replay, prepared));
    replay->prepared = true;
    tell(replay, prepared);
    prepared->total_ms = ms_since(replay, began);
    *device = replay->facts;
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT const char *nb_replay_note(const struct nb_replay *replay, uint32_t index)
{
    return index < replay->note_count ? replay->notes[index] : NULL;
}

/* ---- running and reading ------------------------------------------------------------------------------- */

NB_REPLAY_EXPORT int nb_replay_once(struct nb_replay *replay, uint32_t set, char *error)
{
    NB_TRY(nb_begin(replay, error));
    NB_TRY(nb_inputs_check(replay, set));
    const uint32_t copy = replay->code.current;
    NB_TRY(nb_cold_restore(replay, copy, set));
    NB_TRY(nb_loop_run(replay, copy));
    return nb_operations_check_reads(replay);
}

NB_REPLAY_EXPORT int nb_replay_check_reads(struct nb_replay *replay, uint32_t set, char *error)
{
    NB_TRY(nb_begin(replay, error));
    NB_TRY(nb_inputs_check(replay, set));
    const uint32_t copy = replay->code.current;
    if (replay->host_reads.count == 0)
        return NB_REPLAY_OK;
    NB_TRY(nb_cold_restore(replay, copy, set));
    return nb_loop_run_checking(replay, copy);
}

NB_REPLAY_EXPORT int nb_replay_read(struct nb_replay *replay, uint64_t address, void *data, uint64_t bytes,
                                    char *error)
{
    NB_TRY(nb_begin(replay, error));
    CUdeviceptr from = nb_globals_at(replay, replay->code.current, address, bytes);
    if (from == 0 && nb_memory_at(replay, 0, address, bytes) != 0)
        from = address;
    if (from == 0)
        return nb_fail(replay, NB_REPLAY_CANNOT, "the capture has no memory of %llu bytes at 0x%llx",
                       (unsigned long long)bytes, (unsigned long long)address);
    return nb_staging_fetch(replay, from, bytes, data);
}

NB_REPLAY_EXPORT void nb_replay_close(struct nb_replay *replay)
{
    if (replay == NULL)
        return;
    char error[NB_REPLAY_TEXT];
    replay->error = error;
    nb_operations_close(replay);
    nb_inputs_close(replay);
    nb_cold_close(replay);
    nb_priority_close(replay);
    nb_utility_close(replay);
    nb_code_close(replay);
    nb_vault_free(replay);
    nb_memory_close(replay);
    nb_staging_close(replay);
    nb_copier_close(&replay->copier);
    nb_streams_close(replay);
    nb_device_close(replay);
    nb_reader_close(&replay->reader);
    free(replay->refusals);
    free(replay);
}
