/* The part of struct nb_replay that belongs to utility.h. */
#ifndef NEUTRINO_ENGINE_UTILITY_STATE_H
#define NEUTRINO_ENGINE_UTILITY_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

enum { NB_STAMPS_MAX = 1024 }; /* limit on distinguished multiprocessors */

struct nb_stamp {
    uint64_t timer; /* nanoseconds */
    uint64_t clock; /* cycles of that multiprocessor */
};

/* In host memory that the device sees. */
struct nb_signal {
    _Atomic uint32_t release; /* written by the host: release the stream */
    uint32_t pad0[15];
    _Atomic uint32_t gave_up; /* written by the device: the time limit passed first */
    uint32_t pad1[15];
    struct nb_stamp before[NB_STAMPS_MAX], after[NB_STAMPS_MAX];
};

struct nb_utility {
    CUmodule module;
    CUfunction hold, read, fill_shared, stamp, empty, touch, noise;
    CUfunction flush;    /* NULL: not requested */
    bool has_icache_inv; /* `flush` uses AMD's s_icache_inv */
    struct nb_signal *signal;
    CUdeviceptr signal_device;
    CUdeviceptr sink;
    uint32_t shared_bytes; /* maximum per block */
};

#endif
