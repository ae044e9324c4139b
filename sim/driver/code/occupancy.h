#ifndef NEUTRINO_SIM_OCCUPANCY_H
#define NEUTRINO_SIM_OCCUPANCY_H

#include <stddef.h>

struct ptx_kernel_attributes;
struct sim_function;

/* Registers per thread. PTX declares one register per value; a compiler allocates fewer. The result is
 * limited so that the kernel's largest block can run, as ptxas does for a declared block size (.maxntid,
 * .reqntid). */
unsigned sim_occupancy_registers(const struct ptx_kernel_attributes *known);

/* Number of blocks that one multiprocessor holds at a time, limited by threads, registers and shared memory.
 */
int sim_occupancy(const struct sim_function *function, unsigned block_threads, size_t dynamic_bytes);

#endif
