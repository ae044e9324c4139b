#ifndef NEUTRINO_SIM_OCCUPANCY_H
#define NEUTRINO_SIM_OCCUPANCY_H

#include <stddef.h>

struct ptx_kernel_attributes;
struct sim_function;

/* Registers a thread. PTX declares as many as it has values, a compiler gives them fewer: no more than let
 * the kernel's largest block run, as ptxas does where that block is declared (.maxntid, .reqntid). */
unsigned sim_registers(const struct ptx_kernel_attributes *known);

/* Blocks of a function that one multiprocessor holds at a time, by threads, registers and shared memory. */
int sim_occupancy(const struct sim_function *function, unsigned block_threads, size_t dynamic_bytes);

#endif
