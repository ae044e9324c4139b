/* The engine's own kernels and the memory that it shares with them. */
#ifndef NEUTRINO_ENGINE_UTILITY_H
#define NEUTRINO_ENGINE_UTILITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/sample/utility_state.h"

struct nb_replay;

int nb_utility_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Hold the timed stream until nb_utility_release, for `prime_limit_ms` at most. */
int nb_utility_hold(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Release the held stream after reading the device's time, in nanoseconds; 0 if the stream may have been
 * released before the time was read. Kernels behind the hold cannot have written the time that was read. */
uint64_t nb_utility_release(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Queue the other end of the time that nb_utility_release began. */
int nb_utility_end(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Microseconds between both; 0 if unknown. When the device is idle. */
double nb_utility_span_us(const struct nb_replay *replay, uint64_t began_ns)
    __attribute__((visibility("hidden")));

int nb_utility_read(struct nb_replay *replay, CUdeviceptr from, uint64_t bytes)
    __attribute__((visibility("hidden")));

/* Fill shared memory with noise, as nb_utility_noise. Needs the option `scrub`. */
int nb_utility_scrub(struct nb_replay *replay, uint32_t seed) __attribute__((visibility("hidden")));

/* One access to each of the pages of `step` bytes, from every multiprocessor. */
int nb_utility_touch(struct nb_replay *replay, CUdeviceptr from, uint64_t bytes, uint64_t step)
    __attribute__((visibility("hidden")));

/* Fill with words that are never 0 and depend on the seed, on their place and on a key: none tells about
 * others. */
int nb_utility_noise(struct nb_replay *replay, CUdeviceptr to, uint64_t bytes, uint32_t seed)
    __attribute__((visibility("hidden")));

/* Overwrite the memory that these kernels write, except the signal, which nb_utility_reset overwrites. */
int nb_utility_forget(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_utility_empty(struct nb_replay *replay, CUstream stream) __attribute__((visibility("hidden")));

/* Empty the instruction caches like Composable Kernel, if requested; and the number of blocks for it. */
int nb_utility_flush(struct nb_replay *replay) __attribute__((visibility("hidden")));
uint32_t nb_utility_flush_blocks(const struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Reset stamps and flags; take stamps before or after. */
void nb_utility_reset(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_utility_stamp(struct nb_replay *replay, bool after) __attribute__((visibility("hidden")));

/* The clock between two stamps in MHz; 0 if no multiprocessor took both. */
double nb_utility_clock_mhz(const struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_utility_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
