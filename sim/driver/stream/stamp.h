/* Where events keep their times. */
#ifndef NEUTRINO_SIM_STAMP_H
#define NEUTRINO_SIM_STAMP_H

#include <stdatomic.h>
#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds; 0: not yet. */
typedef _Atomic uint64_t sim_stamp;

/* Map the memory, once. Without it kernels cannot write the times. */
void sim_stamp_start(void);

/* A place for the time of one event. NULL: out of memory. */
sim_stamp *sim_stamp_take(void);
void sim_stamp_give(sim_stamp *stamp);

#endif
