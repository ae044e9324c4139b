/* A context: its streams, sticky error and limits. Each thread has a current context. */
#ifndef NEUTRINO_SIM_CONTEXT_H
#define NEUTRINO_SIM_CONTEXT_H

#include "driver/core/api.h"
#include "driver/core/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct sim_green;
struct sim_stream;

#define SIM_LIMITS 8 /* CU_LIMIT_STACK_SIZE to CU_LIMIT_SHMEM_SIZE */

/* The state after a fault. */
struct sim_fault {
    atomic_int error;   /* CUresult of the first fault, which every later call returns */
    atomic_bool cancel; /* tells running kernels to stop */
};

struct sim_context {
    struct sim_object object;
    unsigned long long id;
    unsigned api_version;
    atomic_uint flags;
    atomic_bool ended;       /* destroyed, or a primary context with no references */
    struct sim_fault *fault; /* `own`, or that of the process */
    struct sim_fault own;
    _Atomic size_t limits[SIM_LIMITS];
    _Atomic size_t kernel_heap_used;
    atomic_int cache_config;

    struct sim_context
        *primary; /* for a green context: the primary context that owns its memory and faults; NULL: none */
    struct sim_green *green; /* for a green context */
    atomic_uint uses;        /* the count of cuCtxAttach */

    pthread_mutex_t order;      /* orders the submissions of all streams; taken before a stream's mutex */
    struct sim_stream *streams; /* streams with queued work or a valid handle, linked by `next` */
    struct sim_stream *legacy;
    struct sim_stream *gate; /* new streams wait for this stream first; owned reference; NULL: none */
    uint64_t gate_number;
};

/* A context with one reference, not begun. NULL: out of memory. */
struct sim_context *sim_context_make(unsigned flags);

/* Whether all CUctx_flags are known and at most one of them is a scheduling flag. */
bool sim_context_flags_are_valid(unsigned flags);

/* Number of multiprocessors that the context may use. */
unsigned sim_context_multiprocessors(const struct sim_context *context);

/* Set the limits to their defaults. */
void sim_limits_reset(struct sim_context *context);

/* Make the primary context, not begun. Called once, by cuInit. */
bool sim_primary_start(void);

bool sim_is_primary(const struct sim_context *context);

/* Green contexts retain the primary context for as long as they live. */
CUresult sim_primary_retain(struct sim_context **context);
CUresult sim_primary_release(void);

/* The calling thread's stack of contexts: stack.c. Pop returns the context without a reference, or NULL if
 * the stack is empty. */
CUresult sim_context_push(struct sim_context *context);
struct sim_context *sim_context_pop(void);

/* Checks of nearly every call: initialized, a current context, alive, without a sticky error. */
CUresult sim_enter(struct sim_context **context);

/* Like sim_enter, for a context given by handle. NULL: the current context. */
CUresult sim_enter_with(CUcontext handle, struct sim_context **context);

/* Like sim_enter_with, but also accepts a context with a sticky error: a few queries still work after a
 * fault. */
CUresult sim_enter_faulted(CUcontext handle, struct sim_context **context);

/* Like sim_enter, but also accepts an ended or faulted context, for queries that need only the handle. */
CUresult sim_enter_any(struct sim_context **context);

/* Whether the context is alive and has no sticky error. */
CUresult sim_context_check(const struct sim_context *context);

/* The context that owns the memory and the faults: the primary context for a green context, else the context
 * itself. */
struct sim_context *sim_context_root(struct sim_context *context);

/* Keep the first fault as the sticky error of the whole process. As on a GPU, no context works after it and
 * no new one can be made. With SIM_FAULT_SCOPE=context the error is that of the context alone. */
void sim_context_set_fault(struct sim_context *context, CUresult error);

/* True when running kernels of the context have to stop. */
const atomic_bool *sim_context_cancel_flag(const struct sim_context *context);
CUresult sim_context_error(const struct sim_context *context);

/* Clear the context's own fault. A fault of the whole process stays. */
void sim_context_clear_fault(struct sim_context *context);
CUresult sim_process_error(void);

/* The current context without any check. NULL: none. */
struct sim_context *sim_context_current(void);

#endif
