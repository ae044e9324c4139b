/* SIM_MEMORY_CHECK=pages: access checks with a GPU's granularity. */
#ifndef NEUTRINO_SIM_MEMORY_PAGE_H
#define NEUTRINO_SIM_MEMORY_PAGE_H

#include <stdbool.h>
#include <stdint.h>

/* ptx_memory.find: extends to whole pages that contain a live allocation. */
bool sim_memory_find_page(void *unused, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable);

#endif
