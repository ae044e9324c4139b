/* The timing loop's body: one sample. */
#ifndef NEUTRINO_ENGINE_LOOP_H
#define NEUTRINO_ENGINE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

struct nb_replay;
struct nb_replay_sample;

/* More queued operations than this might fill the queue while its stream is held; then nothing would ever
 * release it. The smallest queue seen has 1024 entries, and a launch may take several. */
enum { NB_QUEUE_MAX = 200 };

bool nb_loop_may_prime(const struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Queue the region between fork and join. */
int nb_loop_queue_region(struct nb_replay *replay, uint32_t copy, bool stepwise)
    __attribute__((visibility("hidden")));

/* The region once, untimed, to its end, on the state as it is. */
int nb_loop_run(struct nb_replay *replay, uint32_t copy) __attribute__((visibility("hidden")));

/* What is timed is what `queue` queues for a copy of the code. Fills in all but the set and what it took
 * before. */
int nb_loop_sample(struct nb_replay *replay, int (*queue)(struct nb_replay *, uint32_t), uint32_t copy,
                   bool primed, struct nb_replay_sample *sample) __attribute__((visibility("hidden")));

int nb_loop_elapsed_us(struct nb_replay *replay, CUevent start, CUevent end, double *us)
    __attribute__((visibility("hidden")));

#endif
