#ifndef NEUTRINO_SIM_OCCUPANCY_H
#define NEUTRINO_SIM_OCCUPANCY_H

#include <stddef.h>

struct sim_function;

/* Blocks of a function that one multiprocessor holds at a time, by threads, registers and shared memory. */
int sim_occupancy(const struct sim_function *function, unsigned block_threads, size_t dynamic_bytes);

#endif
