/* The ranges of addresses that are somebody's memory now. */
#ifndef NEUTRINO_SIM_RANGE_H
#define NEUTRINO_SIM_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_context;
struct sim_physical;
struct sim_pool;

enum sim_memory {
    SIM_MEMORY_DEVICE,   /* cuMemAlloc, pools */
    SIM_MEMORY_VARIABLE, /* a module's */
    SIM_MEMORY_MANAGED,
    SIM_MEMORY_HOST,       /* cuMemHostAlloc */
    SIM_MEMORY_REGISTERED, /* cuMemHostRegister */
    SIM_MEMORY_MAPPED,     /* cuMemMap */
    SIM_MEMORY_KERNEL,     /* malloc in a kernel */
    SIM_MEMORY_GRAPH       /* an allocation node's; accessible while allocated */
};

/* What kernels and copies may do; the values of CUmemAccess_flags. */
enum sim_access { SIM_ACCESS_NONE = 0, SIM_ACCESS_READ = 1, SIM_ACCESS_READ_WRITE = 3 };

struct sim_range {
    uint64_t begin, end;
    enum sim_memory kind;
    enum sim_access access;
    bool synchronous; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    unsigned flags;   /* of the call that made it */
    unsigned long long id;
    struct sim_context *context;   /* NULL: of no context (pools, mappings) */
    struct sim_pool *pool;         /* NULL: of none */
    struct sim_physical *physical; /* of a mapping */
};

/* A number that no other memory in this process ever has. */
unsigned long long sim_range_new_id(void);

/* Add a range; false if it overlaps another or there is no memory. An id is given to it. */
bool sim_range_add(const struct sim_range *range);

/* The range that holds `address`. */
bool sim_range_find(uint64_t address, struct sim_range *range);

/* Any range, accessible and of a kind in the bit set `kinds`, that has a byte in [begin, end). */
bool sim_range_within(uint64_t begin, uint64_t end, unsigned kinds, struct sim_range *range);

/* The range closest to `address`, which is in none. */
bool sim_range_nearest(uint64_t address, struct sim_range *range);

/* Whether the device may read and write, or only has to read, all of [address, address + bytes). */
bool sim_range_accessible(uint64_t address, size_t bytes);
bool sim_range_readable(uint64_t address, size_t bytes);

/* The same for an address that is put into a graph: a graph's allocation counts before it is made. */
bool sim_range_addressable(uint64_t address, size_t bytes);

/* Make a graph's allocation that begins at `address` accessible or not. */
void sim_range_set_live(uint64_t address, bool live);

/* Take out the range that begins at `address` and is of a kind in the bit set `kinds`. */
bool sim_range_remove(uint64_t address, unsigned kinds, struct sim_range *range);

/* Take out any range of that context and of a kind in `kinds`. */
bool sim_range_remove_any(const struct sim_context *context, unsigned kinds, struct sim_range *range);

/* Set access for all mappings that lie in [begin, end). False if these do not cover it. */
bool sim_range_set_access(uint64_t begin, uint64_t end, enum sim_access access);

/* Set `synchronous` of the range that holds `address`. False: there is none. */
bool sim_range_set_synchronous(uint64_t address, bool synchronous);

#endif
