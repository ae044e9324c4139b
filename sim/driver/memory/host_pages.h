#ifndef NEUTRINO_SIM_HOST_PAGES_H
#define NEUTRINO_SIM_HOST_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the program may read, and also write, all of [begin, end) of its own memory. */
bool sim_host_pages_readable(uint64_t begin, uint64_t end, bool *writable);

#endif
