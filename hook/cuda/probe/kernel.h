/* Probed kernels: for each kernel of the program, the kernel that is launched in its place. */
#ifndef NEUTRINO_CUDA_PROBE_KERNEL_H
#define NEUTRINO_CUDA_PROBE_KERNEL_H

#include <cuda.h>

#include "core/maps/funcmap.h"
#include "core/probe/mailbox.h"
#include "core/process/call.h"
#include "core/process/component.h"

struct nb_probe_kernel {
    const struct nb_function *of;
    struct nb_probe_kernel *next; /* of the same unloaded image */
    uint64_t number;              /* of the original */
    CUcontext context;            /* where the probed kernel was loaded */
    CUfunction original;          /* a CUkernel's function, or the handle itself */
    CUmodule module;              /* NULL if the original is launched */
    CUfunction function;          /* the probed kernel */
    CUmodule pruned_module;       /* for a benchmark, else NULL */
    CUfunction pruned;            /* the kernel without probes, as the engine writes it */
    _Atomic uint32_t turns;       /* launches of a benchmark so far */
    _Atomic uint32_t is_ready;    /* 0: its first launch is waiting for the supervisor */
    _Atomic uint32_t is_given_up;
    _Atomic uint32_t skipped; /* bit set: enum nb_probe_skip that the log has already */
    bool is_pageable;         /* nb_device_is_pageable */
    uint32_t answer;
    uint32_t map_count;
    struct nb_probe_map maps[NB_PROBE_MAPS_MAX];
    _Atomic uint64_t entries[NB_PROBE_MAPS_MAX]; /* the most that an item of a counted map needed so far */
};

/* Why one launch runs the original. */
enum nb_probe_skip {
    NB_SKIP_CONTEXT,    /* another context */
    NB_SKIP_PARAMETERS, /* their layout is unknown */
    NB_SKIP_MEMORY,     /* the limit of maps, or the device, has no more */
    NB_SKIP_SIZE,       /* a map would exceed 64 bits or the limit */
    NB_SKIP_LOST,       /* its maps could not be read back */
    NB_SKIP_TRACES      /* the session has no room for its trace */
};

/* The probed kernel to launch in place of `function`, which this asks the supervisor for at its first launch.
 * NULL: launch the original. */
struct nb_probe_kernel *nb_probe_kernel_for(const struct nb_call *call, CUfunction function)
    __attribute__((visibility("hidden")));

/* The driver refused the probed kernel: launch the original from now on. */
void nb_probe_kernel_give_up(const struct nb_call *call, struct nb_probe_kernel *kernel, const char *what,
                             CUresult result) __attribute__((visibility("hidden")));

/* Log, once a kernel, why a launch runs the original. */
void nb_probe_skip(const struct nb_call *call, struct nb_probe_kernel *kernel, enum nb_probe_skip why)
    __attribute__((visibility("hidden")));

/* Log, once a kernel, why launches that no probe can follow run the original: those of graphs, and of host
 * stubs. */
void nb_probe_skip_kernel(const struct nb_call *call, uint64_t kernel, const char *why)
    __attribute__((visibility("hidden")));

/* Drop the probed kernels of an unloaded image, or of a destroyed context (0: of all). */
void nb_probe_unload(const struct nb_binary *binary) __attribute__((visibility("hidden")));
void nb_probe_forget_kernels(uint64_t context) __attribute__((visibility("hidden")));

extern const struct nb_component nb_probe_kernel_component __attribute__((visibility("hidden")));

#endif
