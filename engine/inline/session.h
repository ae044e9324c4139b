/* The state of the loop, all of it in the arena. */
#ifndef NEUTRINO_INLINE_SESSION_H
#define NEUTRINO_INLINE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inline/driver.h"
#include "inline/inline.h"
#include "inline/kernels.h"
#include "inline/seal.h"

enum { NB_EVENTS = 64, NB_EXTENTS_MAX = 2 * NB_INLINE_CASES_MAX + 8 };

struct nb_functions {
    CUfunction give, noise, restore, hold, sweep, discard, check;
};

/* In host memory that the device can access. A submission gains nothing by finding it. */
struct nb_signal {
    volatile uint32_t release;
    uint32_t pad[31];
    volatile uint32_t gave_up;
};

/* Device memory of the loop, which no buffer may overlap. */
struct nb_extent {
    CUdeviceptr begin;
    uint64_t bytes;
};

/* Streams of keystream under the keys of a set: by buffer, plus one of these. */
enum { NB_STREAM_POISON = 0x100, NB_STREAM_GARBAGE = 0x200 };

/* Two keys, because the key of the inputs is in launches that the driver still holds when the submission is
 * called. */
struct nb_set_keys {
    struct nb_key inputs, expected;
};

struct nb_case {
    uint32_t count, sets;
    bool ready; /* loaded, and not run yet */
    struct nb_inline_buffer buffers[NB_BUFFERS_MAX];
    CUdeviceptr inputs, expected; /* set n begins at n times the stride */
    uint64_t inputs_stride, expected_stride;
    struct nb_set_keys *keys; /* by set */
    struct nb_seal_key *seal;
};

/* Python's functions. */
struct nb_python {
    void *(*call)(void *, void *); /* PyObject_CallNoArgs, the second argument is not looked at */
    void *(*call_with)(void *, void *);
    void *(*release)(void *, void *); /* Py_DecRef */
};

struct nb_session {
    struct nb_driver driver;
    struct nb_python python;
    void *(*mark)(void *, void *); /* the shim's neutrino_phase, or NULL (mark.h) */
    CUcontext context;
    struct nb_functions functions;
    CUevent events[NB_EVENTS];
    CUevent joined; /* all work of the context, without a time */
    struct nb_signal *signal;
    CUdeviceptr signal_device;
    CUdeviceptr scratch, noise;
    uint64_t scratch_bytes, noise_bytes;
    unsigned multiprocessors, shared_bytes;
    bool joins_all, early; /* early: launches may be programmatic */
    bool primed;           /* the queue is held while it is filled, if a case's probe could be held */
    bool settles;          /* inputs are ready before the call, since a sample was wrong */
    uint32_t samples, hold_ms, cases_loaded, cases;
    int channel;
    double overhead_us, gap_us;
    struct nb_extent extents[NB_EXTENTS_MAX];
    uint32_t extent_count;
    struct nb_case *case_list;
    struct nb_result result;
    struct nb_sealed sealed;
};

/* Every function below that returns int returns the driver's CUresult. */

/* Allocate device memory for the loop, in whole cache lines. */
int nb_allocate(struct nb_session *session, uint64_t bytes, CUdeviceptr *found)
    __attribute__((visibility("hidden")));

/* Launch on the legacy default stream. */
int nb_launch(const struct nb_session *session, CUfunction function, uint64_t blocks, unsigned threads,
              void **parameters) __attribute__((visibility("hidden")));

/* One thread for each block of keystream in `bytes`. */
int nb_move_all(const struct nb_session *session, CUfunction function, const struct nb_move *move)
    __attribute__((visibility("hidden")));

bool nb_random(void *into, size_t bytes) __attribute__((visibility("hidden")));

/* A random number below `limit`. */
uint64_t nb_draw(uint64_t limit) __attribute__((visibility("hidden")));

/* Build context, kernels and scratch memory. After an error, `step` names the failed step. */
int nb_device_build(struct nb_session *session, unsigned ordinal, const char **step)
    __attribute__((visibility("hidden")));

int nb_elapsed(const struct nb_session *session, CUevent start, CUevent end, double *time_us)
    __attribute__((visibility("hidden")));

#define NB_TRY(expression)                                                                                   \
    do {                                                                                                     \
        const int nb_try = (int)(expression);                                                                \
        if (nb_try != 0)                                                                                     \
            return nb_try;                                                                                   \
    } while (0)

#endif
