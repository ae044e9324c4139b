/* SIM_MEMORY_CHECK=pages: what a kernel may touch on a GPU. */
#ifndef NEUTRINO_SIM_MEMORY_PAGE_H
#define NEUTRINO_SIM_MEMORY_PAGE_H

#include <stdbool.h>
#include <stdint.h>

/* ptx_memory.find: all of every page that holds a byte of a live allocation. */
bool sim_memory_find_page(void *unused, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable);

#endif
