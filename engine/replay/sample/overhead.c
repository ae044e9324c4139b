/* The cost of measuring, reported beside the results and never subtracted from them. */
#include <stdlib.h>

#include "replay/base/engine.h"
#include "replay/sample/cold.h"
#include "replay/sample/loop.h"
#include "replay/sample/utility.h"
#include "replay/state/inputs.h"

enum {
    BATCH = 60, /* pairs that are queued at once: three operations each, below NB_QUEUE_MAX */
    ROUNDS = 18,
    EMPTY_SAMPLES = 9
};

struct pairs {
    CUevent start[BATCH], end[BATCH];
};

static int make_pairs(struct nb_replay *replay, struct pairs *pairs)
{
    for (int i = 0; i < BATCH; i++) {
        NB_TRY(NB_CALL(replay, cuEventCreate, &pairs->start[i], CU_EVENT_DEFAULT));
        NB_TRY(NB_CALL(replay, cuEventCreate, &pairs->end[i], CU_EVENT_DEFAULT));
    }
    return NB_REPLAY_OK;
}

static void destroy_pairs(struct nb_replay *replay, const struct pairs *pairs)
{
    for (int i = 0; replay->gone == NB_REPLAY_OK && i < BATCH; i++) {
        if (pairs->start[i] != NULL)
            replay->driver.cuEventDestroy_v2(pairs->start[i]);
        if (pairs->end[i] != NULL)
            replay->driver.cuEventDestroy_v2(pairs->end[i]);
    }
}

/* Queued behind a held stream while the device works, like a sample. */
static int measure_batch(struct nb_replay *replay, const struct pairs *pairs, bool kernel, double *us)
{
    nb_utility_reset(replay);
    NB_TRY(nb_utility_hold(replay));
    NB_TRY(nb_cold_chill(replay));
    for (int i = 0; i < BATCH; i++) {
        NB_TRY(NB_CALL(replay, cuEventRecord, pairs->start[i], replay->streams.timed));
        if (kernel)
            NB_TRY(nb_utility_empty(replay, replay->streams.timed));
        NB_TRY(NB_CALL(replay, cuEventRecord, pairs->end[i], replay->streams.timed));
    }
    (void)nb_utility_release(replay);
    NB_TRY(nb_wait(replay, replay->streams.timed, NB_OWN_WORK_MS, "measuring the overhead"));
    for (int i = 0; i < BATCH; i++)
        NB_TRY(nb_loop_elapsed_us(replay, pairs->start[i], pairs->end[i], &us[i]));
    return NB_REPLAY_OK;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Events may show a negative time if a kernel of the capture wrote to them (--verify runs it before). */
static uint64_t nanoseconds(double us)
{
    return us > 0 ? (uint64_t)(1000.0 * us + 0.5) : 0;
}

/* In whole nanoseconds, the resolution of event times. */
static double greatest_common_step(const double *us, size_t count)
{
    uint64_t step = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t a = nanoseconds(us[i]), b = step;
        while (b != 0) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        step = a;
    }
    return (double)step / 1000.0;
}

static int measure_pairs(struct nb_replay *replay, const struct pairs *pairs,
                         struct nb_replay_overhead *overhead)
{
    double us[ROUNDS * BATCH];
    for (int round = 0; round < ROUNDS; round++)
        NB_TRY(measure_batch(replay, pairs, false, &us[round * BATCH]));
    overhead->tick_us = greatest_common_step(us, ROUNDS * BATCH);
    overhead->empty_pair_us = median(us, ROUNDS * BATCH);
    for (int round = 0; round < ROUNDS; round++)
        NB_TRY(measure_batch(replay, pairs, true, &us[round * BATCH]));
    overhead->empty_kernel_us = median(us, ROUNDS * BATCH);
    return NB_REPLAY_OK;
}

/* Before any code of the capture has run (except for --verify), so that it cannot influence them. */
static int measure_empty_samples(struct nb_replay *replay, struct nb_replay_overhead *overhead)
{
    const uint32_t set = replay->inputs.set_count == 0 ? NB_NOTHING : 0;
    double us[EMPTY_SAMPLES];
    for (int i = 0; i < EMPTY_SAMPLES; i++) {
        struct nb_replay_sample sample = {0};
        NB_TRY(nb_cold_make_ready(replay, 0, set));
        NB_TRY(nb_loop_sample(replay, nb_loop_queue_empty, 0, nb_loop_may_prime(replay), &sample));
        us[i] = sample.span_us > sample.device_us ? sample.span_us - sample.device_us : 0;
    }
    overhead->empty_beside_us = median(us, EMPTY_SAMPLES);
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_measure_overhead(struct nb_replay *replay, struct nb_replay_overhead *overhead,
                                                char *error)
{
    NB_TRY(nb_begin(replay, error));
    struct pairs pairs = {0};
    int status = make_pairs(replay, &pairs);
    if (status == NB_REPLAY_OK)
        status = measure_pairs(replay, &pairs, overhead);
    if (status == NB_REPLAY_OK)
        status = measure_empty_samples(replay, overhead);
    destroy_pairs(replay, &pairs);
    return status;
}
