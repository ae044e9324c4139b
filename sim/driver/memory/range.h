/* The ranges of addresses that contain memory. */
#ifndef NEUTRINO_SIM_RANGE_H
#define NEUTRINO_SIM_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_context;
struct sim_physical;
struct sim_pool;

enum sim_memory {
    SIM_MEMORY_DEVICE, /* cuMemAlloc, pools */
    SIM_MEMORY_GLOBAL, /* a module's global */
    SIM_MEMORY_MANAGED,
    SIM_MEMORY_HOST,       /* cuMemHostAlloc */
    SIM_MEMORY_REGISTERED, /* cuMemHostRegister */
    SIM_MEMORY_MAPPED,     /* cuMemMap */
    SIM_MEMORY_KERNEL,     /* malloc in a kernel */
    SIM_MEMORY_GRAPH,      /* from an allocation node; accessible while allocated */
    SIM_MEMORY_DRIVER      /* the driver's own */
};

/* Access by kernels and copies. The values are those of CUmemAccess_flags. */
enum sim_access { SIM_ACCESS_NONE = 0, SIM_ACCESS_READ = 1, SIM_ACCESS_READ_WRITE = 3 };

struct sim_range {
    uint64_t begin, end;
    enum sim_memory kind;
    enum sim_access access;
    bool synchronous; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    unsigned flags;   /* of the call that made the range */
    unsigned long long id;
    struct sim_context *context;   /* NULL: belongs to no context (pools, mappings) */
    struct sim_pool *pool;         /* NULL: not from a pool */
    struct sim_physical *physical; /* for a mapping */
};

/* A number for new memory, unique in the process. */
unsigned long long sim_range_new_id(void);

/* Add a range with a new id. False: it overlaps another range, or out of memory. */
bool sim_range_add(const struct sim_range *range);

/* Find the range that contains `address`. */
bool sim_range_find(uint64_t address, struct sim_range *range);

/* Find any accessible range of a kind in the bit set `kinds` that overlaps [begin, end). */
bool sim_range_find_overlap(uint64_t begin, uint64_t end, unsigned kinds, struct sim_range *range);

/* Find the range closest to `address`, which no range contains. */
bool sim_range_find_nearest(uint64_t address, struct sim_range *range);

/* Whether the device may read and write, or read, all of [address, address + bytes). */
bool sim_range_accessible(uint64_t address, size_t bytes);
bool sim_range_readable(uint64_t address, size_t bytes);

/* The same for addresses in graphs: includes graph allocations that are not live yet. */
bool sim_range_addressable(uint64_t address, size_t bytes);

/* Make the graph allocation at `address` accessible or inaccessible. */
void sim_range_set_live(uint64_t address, bool live);

/* Remove the range that begins at `address` and is of a kind in the bit set `kinds`. */
bool sim_range_remove(uint64_t address, unsigned kinds, struct sim_range *range);

/* Remove any range of the context and of a kind in `kinds`. */
bool sim_range_remove_any(const struct sim_context *context, unsigned kinds, struct sim_range *range);

/* Set the access of all mappings in [begin, end). False: they do not cover it. */
bool sim_range_set_access(uint64_t begin, uint64_t end, enum sim_access access);

/* Set `synchronous` of the range that contains `address`. False: no range does. */
bool sim_range_set_synchronous(uint64_t address, bool synchronous);

#endif
