/* The table behind cuGetProcAddress, generated from cudaTypedefs.h. */
#ifndef NEUTRINO_SIM_PROCADDR_H
#define NEUTRINO_SIM_PROCADDR_H

#include <stddef.h>

/* cuGetProcAddress returns `address` for `name` from CUDA `version` (12040 for 12.4) on. Sorted by name,
 * version, per_thread. */
struct sim_entry {
    const char *name;
    int version;
    int per_thread;
    const char *symbol;
    void *address;
};

extern const struct sim_entry sim_entries[];
extern const size_t sim_entry_count;

#endif
