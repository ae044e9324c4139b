/* The body of the timing loop: one sample. */
#ifndef NEUTRINO_ENGINE_LOOP_H
#define NEUTRINO_ENGINE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"
#include "replay/rebuild/operations.h"

struct nb_replay;
struct nb_replay_sample;

/* Limit on queued operations: more could fill the queue while its stream is held, and the host would never
 * come to release it. The smallest queue seen has 1024 entries; a launch may take several. */
enum { NB_QUEUE_MAX = 200 };

bool nb_loop_may_prime(const struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Queue the region between fork and join. */
int nb_loop_queue_region(struct nb_replay *replay, uint32_t copy, enum nb_pace pace)
    __attribute__((visibility("hidden")));

/* Queue an empty kernel on each stream of the region, in place of its operations. */
int nb_loop_queue_empty(struct nb_replay *replay, uint32_t copy) __attribute__((visibility("hidden")));

/* Run the region once, untimed, on the present state, and wait for its end. The second form compares the
 * bytes of copies to the host as they happen. */
int nb_loop_run(struct nb_replay *replay, uint32_t copy) __attribute__((visibility("hidden")));
int nb_loop_run_checking(struct nb_replay *replay, uint32_t copy) __attribute__((visibility("hidden")));

/* Time the operations that `queue` queues for a copy of the code. Fills in everything but the input set and
 * the times of preparation. */
int nb_loop_sample(struct nb_replay *replay, int (*queue)(struct nb_replay *, uint32_t), uint32_t copy,
                   bool primed, struct nb_replay_sample *sample) __attribute__((visibility("hidden")));

int nb_loop_elapsed_us(struct nb_replay *replay, CUevent start, CUevent end, double *us)
    __attribute__((visibility("hidden")));

#endif
