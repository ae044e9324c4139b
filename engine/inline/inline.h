/* Timing within the submission's own process: the interface between benchguard/inline/binding.py and the
 * loop.
 *
 * Calls up to nb_inline_arm come before any byte of the submission is loaded, so they are trusted. Afterwards
 * the process is hostile, and so is the caller of nb_inline_run: its arguments are checked, memory that they
 * point to is not written, and it returns a number. Results leave the process sealed (seal.h). */
#ifndef NEUTRINO_INLINE_H
#define NEUTRINO_INLINE_H

#include <stdint.h>

#include "inline/kernels.h"

#define NB_INLINE_EXPORT __attribute__((visibility("default")))

enum { NB_INLINE_TEXT = 512, NB_INLINE_SAMPLES_MAX = 1024, NB_INLINE_CASES_MAX = 256 };

/* The step at which it stopped: the result is 1000 * this + the driver's CUresult, or 0. */
enum nb_inline_step {
    NB_STEP_NONE = 0,
    NB_STEP_ASKED = 1,  /* no such case, or it was run before */
    NB_STEP_MEMORY = 2, /* buffers overlap, are misaligned, or belong to the loop */
    NB_STEP_SETTLE = 3,
    NB_STEP_INPUTS = 4,
    NB_STEP_FLUSH = 5,
    NB_STEP_START = 6,
    NB_STEP_CALL = 7, /* the submission raised */
    NB_STEP_END = 8,
    NB_STEP_OUTPUTS = 9, /* the call's outputs cannot be located */
    NB_STEP_CHECK = 10,
    NB_STEP_WAIT = 11,
    NB_STEP_RESULT = 12
};

struct nb_inline_opening {
    const char *driver; /* its path */
    int32_t seal;       /* memory with the keys (seal.h); emptied and closed */
    int32_t channel;    /* socket for sealed results, one message each */
    uint32_t cases;
    uint32_t samples; /* per case */
    uint32_t device;
    uint32_t hold_ms; /* limit on holding a queue; a longer call is assumed to wait for the device */
};

struct nb_inline_opened {
    double overhead_us; /* median of 100 empty pairs of events */
    double gap_us;      /* between the events' own times and the stamps around them, when nothing is called */
    uint64_t arena, arena_bytes;
    uint32_t
        joins_all; /* 1: the end event waits for all streams; 0: for those that the legacy stream waits for */
    uint32_t pad;
};

/* A buffer of a case, as problem/spec.py has it. */
struct nb_inline_buffer {
    uint64_t bytes; /* bytes of a set in the submission's layout */
    uint64_t given; /* offset in a set of inputs; if it is read */
    uint64_t
        expected;   /* offset in a set of expected values, which have the output's layout; if it is checked */
    uint64_t slots; /* elements and gaps in its memory */
    double absolute, relative;
    uint32_t dtype, expected_dtype;
    uint32_t is_read, is_checked, is_constant;
    uint32_t dimensions; /* 0: without gaps; else struct nb_check says how */
    uint64_t shape[NB_DIMENSIONS_MAX], strides[NB_DIMENSIONS_MAX];
};

/* A case, to be uploaded; set n begins at n * stride. */
struct nb_inline_case {
    const struct nb_inline_buffer *buffers;
    uint32_t count;
    uint32_t sets;            /* available sets; as many as fit are used */
    int32_t inputs, expected; /* files; the caller closes them */
    uint64_t inputs_stride, expected_stride;
    uint32_t taken; /* result: the number of sets in use */
    uint32_t pad;
};

/* Protections of the arena: bits of enum nb_guard, and the descriptor of violations (or -1). */
struct nb_inline_armed {
    uint32_t guards;
    int32_t listener;
};

enum nb_guard {
    NB_GUARD_CLOSED = 1,      /* the arena cannot be read while the submission runs */
    NB_GUARD_FILTER = 2,      /* system calls that would open it, or change our code, are refused */
    NB_GUARD_LISTENER = 4,    /* refused calls are reported */
    NB_GUARD_SEALED = 8,      /* mseal: the code that was there before the submission stays */
    NB_GUARD_MEMORY_FILE = 16 /* /proc/self/mem cannot be opened */
};

struct nb_inline_running {
    uint32_t case_number;
    uint32_t pad;
    void *call;                      /* PyObject: queues one call's work */
    void *outputs;                   /* PyObject or NULL: gets the call's result, and sets `places` anew */
    uint64_t places[NB_BUFFERS_MAX]; /* device addresses, in the order of the case's buffers */
};

NB_INLINE_EXPORT int nb_inline_open(const struct nb_inline_opening *opening, struct nb_inline_opened *opened,
                                    char *error);
NB_INLINE_EXPORT int nb_inline_load(struct nb_inline_case *loading, char *error);
NB_INLINE_EXPORT int nb_inline_arm(struct nb_inline_armed *armed, char *error);

/* Take all samples of a case. Called with Python's lock held, which is released only while the submission
 * runs. Ends the process unless entered through nb_gate_enter. */
NB_INLINE_EXPORT int nb_inline_run(struct nb_inline_running *running);

#endif
