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

/* The stream is held; it is held and writes its time; it is released. */
enum nb_release { NB_RELEASE_WAIT = 0, NB_RELEASE_BEGIN = 1, NB_RELEASE_GO = 2 };

/* In host memory that the device sees. */
struct nb_signal {
    _Atomic uint32_t release; /* written by the host: an enum nb_release */
    uint32_t pad0[15];
    _Atomic uint32_t gave_up; /* written by the device: the time limit passed first */
    uint32_t pad1[15];
    _Atomic uint64_t began; /* written by the device: the time when it saw NB_RELEASE_BEGIN */
    uint64_t pad2[7];
    _Atomic uint64_t ended; /* written by the device: the time after the end event */
    uint64_t pad3[7];
    struct nb_stamp before[NB_STAMPS_MAX], after[NB_STAMPS_MAX];
};

struct nb_utility {
    CUmodule module;
    CUfunction hold, time, read, fill_shared, stamp, empty, touch, noise;
    CUfunction flush;    /* NULL: not requested */
    bool has_icache_inv; /* `flush` uses AMD's s_icache_inv */
    uint64_t held_ns;    /* the host's clock before the last hold was launched */
    struct nb_signal *signal;
    CUdeviceptr signal_device;
    CUdeviceptr sink;
    uint32_t shared_bytes;    /* maximum per block */
    CUdeviceptr shared_noise; /* that many bytes; 0 without the option `scrub` */
};

#endif
