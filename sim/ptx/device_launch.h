/* Launches by kernels: dynamic parallelism, the second version (CUDA C++ Programming Guide, "CUDA Dynamic
 * Parallelism"). A kernel asks for a buffer, writes the arguments of another kernel to it and launches it.
 * All launches of a grid run after it, one after the other: a program must not wait in a grid for those that
 * it launched, since CUDA 12. */
#ifndef NEUTRINO_SIM_PTX_DEVICE_LAUNCH_H
#define NEUTRINO_SIM_PTX_DEVICE_LAUNCH_H

#include <pthread.h>

#include "ptx/engine.h"

/* A launch that a kernel has asked for, with its parameters behind it; or a copy or a fill: no kernel. */
struct child {
    struct child *next;
    struct ptx_launch launch;
    uint64_t to, from, bytes; /* of a copy or fill; from 0: a fill */
    uint8_t value;
    uint32_t depth; /* of nesting */
    bool tail;      /* to run after the other launches of its grid */
    _Alignas(16) unsigned char parameters[];
};

/* The launches of the kernel of one grid. */
struct launches {
    pthread_mutex_t lock;
    uint32_t depth; /* of the grid */
    uint32_t count;
    struct child *buffers;      /* not yet launched, the newest first */
    struct child *first, *last; /* launched, in order */
};

/* The launches of the grid in the order in which they are to run; frees the buffers that were not launched.
 */
struct child *ptx_take_launches(struct launches *launches);

/* Runs a copy or a fill. */
enum ptx_status ptx_run_copy(const struct child *child, struct ptx_diagnostic *diagnostic);

/* Whether the address lies in memory that the device runtime gave to the kernel. */
bool ptx_find_runtime_memory(const struct grid *grid, uint64_t address, struct range *found);

/* Runs a builtin from BUILTIN_GET_PARAMETER_BUFFER on for one lane. `frame` holds arguments and result. */
enum ptx_status ptx_run_device_runtime(struct warp *warp, const struct instruction *instruction,
                                       const struct call *call, unsigned char *frame, unsigned lane);

#endif
