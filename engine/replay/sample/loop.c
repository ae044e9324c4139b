/* One sample of recorded operations on restored state, measured like nvbench's measure_cold. */
#include "replay/sample/loop.h"

#include "replay/base/engine.h"
#include "replay/rebuild/host_reads.h"
#include "replay/rebuild/operations.h"
#include "replay/rebuild/streams.h"
#include "replay/sample/cold.h"
#include "replay/sample/utility.h"
#include "replay/state/inputs.h"
#include "replay/state/vault.h"

enum { LAUNCH_POSITIONS = 8 }; /* the H100's four, and twice as many for other devices */

static double us_between(uint64_t begin_ns, uint64_t end_ns)
{
    return (double)(end_ns - begin_ns) / 1000.0;
}

bool nb_loop_may_prime(const struct nb_replay *replay)
{
    return replay->options.prime != 0 && replay->operations.queued <= NB_QUEUE_MAX;
}

int nb_loop_queue_region(struct nb_replay *replay, uint32_t copy, enum nb_pace pace)
{
    replay->code.current = copy;
    NB_TRY(nb_streams_fork(replay));
    NB_TRY(nb_operations_run(replay, copy, pace));
    return nb_streams_join(replay);
}

static int run(struct nb_replay *replay, uint32_t copy, enum nb_pace pace)
{
    NB_TRY(nb_vault_close(replay));
    nb_host_reads_reset(replay);
    NB_TRY(nb_loop_queue_region(replay, copy, pace));
    return nb_wait(replay, replay->streams.timed, replay->options.timeout_ms, "the region");
}

int nb_loop_run(struct nb_replay *replay, uint32_t copy)
{
    return run(replay, copy, replay->options.step != 0 ? NB_PACE_STEPS : NB_PACE_QUEUED);
}

int nb_loop_run_checking(struct nb_replay *replay, uint32_t copy)
{
    return run(replay, copy, NB_PACE_READS);
}

/* Run each copy of the code once: the driver may still load code, or grow local memory, which would wait for
 * a held stream. */
static int warm_up(struct nb_replay *replay)
{
    for (uint32_t copy = 0; !replay->warm && copy < replay->code.copy_count; copy++) {
        NB_TRY(nb_cold_restore(replay, copy, replay->inputs.set_count == 0 ? NB_NOTHING : 0));
        NB_TRY(nb_loop_run(replay, copy));
    }
    replay->warm = true;
    return NB_REPLAY_OK;
}

int nb_loop_elapsed_us(struct nb_replay *replay, CUevent start, CUevent end, double *us)
{
    const struct nb_driver *driver = &replay->driver;
    float ms = 0;
    const CUresult result = driver->cuEventElapsedTime_v2 != NULL
                                ? driver->cuEventElapsedTime_v2(&ms, start, end)
                                : driver->cuEventElapsedTime(&ms, start, end);
    *us = 1000.0 * (double)ms;
    return nb_called(replay, result, "cuEventElapsedTime");
}

/* Stamps and hold are outside the events. */
static int queue_sample(struct nb_replay *replay, int (*queue)(struct nb_replay *, uint32_t), uint32_t copy)
{
    const struct nb_streams *streams = &replay->streams;
    NB_TRY(nb_cold_chill(replay));
    NB_TRY(NB_CALL(replay, cuEventRecord, streams->start, streams->timed));
    NB_TRY(queue(replay, copy));
    NB_TRY(NB_CALL(replay, cuEventRecord, streams->end, streams->timed));
    NB_TRY(nb_utility_end(replay));
    return nb_utility_stamp(replay, true);
}

/* cuCtxSynchronize has no time limit. If work never ends, the supervisor ends this process at its deadline.
 */
static int wait_for_all(struct nb_replay *replay, struct nb_replay_sample *sample)
{
    const uint64_t end_seen_ns = replay->driver.now_ns();
    NB_TRY(nb_wait(replay, replay->streams.timed, replay->options.timeout_ms, "the region"));
    NB_TRY(NB_CALL(replay, cuCtxSynchronize));
    sample->tail_us = us_between(end_seen_ns, replay->driver.now_ns());
    return NB_REPLAY_OK;
}

/* A kernel's time depends on the number of launches before it: of four launches in a row, each gets its
 * multiprocessors in another order, and one took up to 7 % longer on an H100 (docs/adr/0039). With a random
 * number of launches before it, a sample meets all of them as often, however many launches it has itself. */
static int shift_launches(struct nb_replay *replay)
{
    for (uint64_t left = nb_inputs_noise(replay) % LAUNCH_POSITIONS; left > 0; left--)
        NB_TRY(nb_utility_empty(replay, replay->streams.timed));
    return NB_REPLAY_OK;
}

int nb_loop_sample(struct nb_replay *replay, int (*queue)(struct nb_replay *, uint32_t), uint32_t copy,
                   bool primed, struct nb_replay_sample *sample)
{
    const struct nb_streams *streams = &replay->streams;
    nb_utility_reset(replay);
    NB_TRY(shift_launches(replay));
    NB_TRY(nb_utility_stamp(replay, false));
    NB_TRY(nb_utility_hold(replay));
    if (primed) /* queue a whole sample before its first operation begins, so that it runs without the host */
        NB_TRY(queue_sample(replay, queue, copy));
    const uint64_t released = replay->driver.now_ns(), began_ns = nb_utility_release(replay);
    if (!primed)
        NB_TRY(queue_sample(replay, queue, copy));
    NB_TRY(nb_wait_event(replay, streams->end, replay->options.timeout_ms, "the region"));
    sample->host_us = us_between(released, replay->driver.now_ns());
    NB_TRY(wait_for_all(replay, sample));
    NB_TRY(nb_loop_elapsed_us(replay, streams->start, streams->end, &sample->device_us));
    sample->span_us = nb_utility_span_us(replay, began_ns);
    sample->clock_mhz = nb_utility_clock_mhz(replay);
    /* A kernel can write `gave_up`. Without `began_ns` the host's clock says that the limit has passed. */
    const bool gave_up = began_ns == 0 || atomic_load(&replay->utility.signal->gave_up) != 0;
    sample->flags = gave_up ? NB_SAMPLE_UNPRIMED : 0;
    return NB_REPLAY_OK;
}

static int queue_region(struct nb_replay *replay, uint32_t copy)
{
    return nb_loop_queue_region(replay, copy, NB_PACE_QUEUED);
}

int nb_loop_queue_empty(struct nb_replay *replay, uint32_t copy)
{
    const struct nb_streams *streams = &replay->streams;
    (void)copy;
    if (!streams->several)
        return nb_utility_empty(replay, streams->timed);
    NB_TRY(nb_streams_fork_all(replay));
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->streams[i].used)
            NB_TRY(nb_utility_empty(replay, streams->streams[i].stream));
    return nb_streams_join_all(replay);
}

static int measure(struct nb_replay *replay, int (*queue)(struct nb_replay *, uint32_t), uint32_t set,
                   struct nb_replay_sample *sample, char *error)
{
    NB_TRY(nb_begin(replay, error));
    NB_TRY(nb_inputs_check(replay, set));
    NB_TRY(warm_up(replay));
    *sample = (struct nb_replay_sample){.input_set = set};
    const uint32_t copy = (uint32_t)(replay->samples % replay->code.copy_count);
    const uint64_t began = replay->driver.now_ns();
    replay->vault.spent_ns = 0;
    NB_TRY(nb_cold_make_ready(replay, copy, sample->input_set));
    const uint64_t spent = replay->vault.spent_ns;
    sample->restore_us = us_between(began + spent, replay->driver.now_ns());
    sample->guard_us = us_between(0, spent);
    return nb_loop_sample(replay, queue, copy, nb_loop_may_prime(replay), sample);
}

NB_REPLAY_EXPORT int nb_replay_measure(struct nb_replay *replay, uint32_t set,
                                       struct nb_replay_sample *sample, char *error)
{
    NB_TRY(measure(replay, queue_region, set, sample, error));
    replay->samples++;
    return nb_operations_check_reads(replay);
}

NB_REPLAY_EXPORT int nb_replay_measure_empty(struct nb_replay *replay, uint32_t set,
                                             struct nb_replay_sample *sample, char *error)
{
    return measure(replay, nb_loop_queue_empty, set, sample, error);
}
