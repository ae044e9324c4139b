/* A context: its streams, its sticky error, its limits; and which one is current for a thread. */
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

/* What a fault leaves behind. */
struct sim_fault {
    atomic_int error;   /* CUresult of the first: every later call returns it */
    atomic_bool cancel; /* running kernels are to stop */
};

struct sim_context {
    struct sim_object object;
    unsigned long long id;
    unsigned api_version;
    atomic_uint flags;
    atomic_bool ended;       /* destroyed, or a primary context nobody retains */
    struct sim_fault *fault; /* its own, or the process's */
    struct sim_fault own;
    _Atomic size_t limits[SIM_LIMITS];
    _Atomic size_t kernel_heap_used;
    atomic_int cache_config;

    struct sim_context
        *primary;            /* of a green context: the one whose memory and faults it shares; NULL: own */
    struct sim_green *green; /* of a green context */
    atomic_uint uses;        /* cuCtxAttach counts them */

    pthread_mutex_t order;      /* puts submissions of all streams in one order; taken before any stream's */
    struct sim_stream *streams; /* all with work left or a valid handle, by `next` */
    struct sim_stream *legacy;
    struct sim_stream *gate; /* where streams made later wait first, owned reference; NULL: nowhere */
    uint64_t gate_number;
};

/* A context that has not begun, one reference. NULL: no memory. */
struct sim_context *sim_context_make(unsigned flags);

/* Give it a legacy stream and defaults; a primary context may end and begin often. */
CUresult sim_context_begin(struct sim_context *context);

/* Wait for its work, then give up everything that it owns. */
void sim_context_end(struct sim_context *context);

/* Of CUctx_flags: known ones, and one way of scheduling at most. */
bool sim_context_flags_are_valid(unsigned flags);

/* How many it may use. */
unsigned sim_context_multiprocessors(const struct sim_context *context);

/* What its limits are at first. */
void sim_limits_reset(struct sim_context *context);

struct sim_event;

/* The event is all that the context has been given so far; all that it is given from now on waits for it. */
CUresult sim_context_record(struct sim_context *context, struct sim_event *event);
CUresult sim_context_wait(struct sim_context *context, struct sim_event *event);

/* Make what the driver has once: the primary context's object, memory, the thread-exit key. */
bool sim_context_start(void);
bool sim_primary_start(void);

bool sim_is_primary(const struct sim_context *context);

/* For as long as a green context lives. */
CUresult sim_primary_retain(struct sim_context **context);
CUresult sim_primary_release(void);

/* The calling thread's stack of contexts: context_stack.c. Pop gives the context, which something else still
 * holds; NULL: empty. */
CUresult sim_context_push(struct sim_context *context);
struct sim_context *sim_context_pop(void);

/* Checks of nearly every call: initialised, a current context, alive, no sticky error. */
CUresult sim_enter(struct sim_context **context);

/* The same for calls that a capture cannot see, which some may forbid: capture_mode.c. */
CUresult sim_enter_unsafe(struct sim_context **context);

/* The same for a context given by handle, which need not be current; NULL means the current one. */
CUresult sim_enter_with(CUcontext handle, struct sim_context **context);

/* The same but for the sticky error: a few questions are answered after a fault too. */
CUresult sim_enter_faulted(CUcontext handle, struct sim_context **context);

/* As sim_enter, after an end or a fault as well: for what the handle alone tells. */
CUresult sim_enter_any(struct sim_context **context);

/* Alive and without a sticky error. */
CUresult sim_context_usable(const struct sim_context *context);

/* The context whose memory and faults it has: itself, or a green context's primary one. */
struct sim_context *sim_context_root(struct sim_context *context);

/* Keep the first fault, for the whole process: as on a GPU, no context works after it and none can be made.
 * With SIM_FAULT_SCOPE=context it is that context's alone. */
void sim_context_fault(struct sim_context *context, CUresult error);

/* True once kernels of the context are to stop. */
const atomic_bool *sim_context_cancel(const struct sim_context *context);
CUresult sim_context_error(const struct sim_context *context);

/* A context that begins has no fault of its own. After one of the process none may begin. */
void sim_context_clear_fault(struct sim_context *context);
CUresult sim_process_error(void);

/* Wait until everything submitted so far to any stream of the context has completed. */
CUresult sim_context_synchronize(struct sim_context *context);

/* Current context without any check, or NULL. */
struct sim_context *sim_context_current(void);

#endif
