/* The GPU's time of each launch, from a pair of the driver's events around it (docs/adr/0031).
 *
 * The events are the shim's own: the driver is called directly, so no record and no hook sees them. Nothing
 * here waits for the device. The number of pairs is fixed; a launch that finds none has no GPU time. */
#ifndef NEUTRINO_CUDA_LAUNCH_TIME_H
#define NEUTRINO_CUDA_LAUNCH_TIME_H

#include <cuda.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* The supervisor asked for GPU times. */
extern atomic_bool nb_launch_times_wanted __attribute__((visibility("hidden")));

/* The test that each launch makes. */
static inline bool nb_timing_launches(void)
{
    return __builtin_expect(atomic_load_explicit(&nb_launch_times_wanted, memory_order_relaxed), 0);
}

/* A pair of events, in use by one launch. */
struct nb_event_pair;

/* Record the start event on the stream of a launch. NULL if the launch cannot be timed: stream capture takes
 * it, or all pairs wait for the device. */
struct nb_event_pair *nb_launch_time_begin(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

/* The number that names the launch in its record and in that of its time. */
uint64_t nb_launch_time_number(const struct nb_event_pair *pair) __attribute__((visibility("hidden")));

/* Record the end event after the launch, and write the times of earlier launches that have ended. Exactly one
 * of `kernel` and `graph` is the number of the launched work, the other is 0. */
void nb_launch_time_end(const struct nb_call *call, struct nb_event_pair *pair, CUresult result,
                        uint64_t kernel, uint64_t graph) __attribute__((visibility("hidden")));

/* The program has waited for work of the current context: write the times of launches that have ended. */
void nb_launch_time_collect(const struct nb_call *call) __attribute__((visibility("hidden")));

/* A context, or with 0 every one, was destroyed with the events in it: drop its pairs. */
void nb_launch_time_forget_context(uint64_t context) __attribute__((visibility("hidden")));

extern const struct nb_component nb_launch_time_component __attribute__((visibility("hidden")));

#endif
