/* A context: its streams, its sticky error, its limits; and which one is current for a thread. */
#ifndef NEUTRINO_SIM_CONTEXT_H
#define NEUTRINO_SIM_CONTEXT_H

#include "api.h"
#include "object.h"

#include <pthread.h>
#include <stdatomic.h>

struct sim_stream;

#define SIM_LIMITS 8 /* CU_LIMIT_STACK_SIZE to CU_LIMIT_SHMEM_SIZE */

struct sim_context {
    struct sim_object object;
    unsigned long long id;
    unsigned api_version;
    atomic_uint flags;
    atomic_bool ended;  /* destroyed, or a primary context nobody retains */
    atomic_bool cancel; /* running kernels are to stop */
    atomic_int error;   /* CUresult of the first fault: every later call returns it */
    _Atomic size_t limits[SIM_LIMITS];
    _Atomic size_t kernel_heap_used;
    atomic_int cache_config;
    atomic_int shared_config;

    pthread_mutex_t order;      /* puts submissions of all streams in one order; taken before any stream's */
    struct sim_stream *streams; /* all with work left or a valid handle, by `next` */
    struct sim_stream *legacy;
};

/* Make the primary context's object and the thread-exit key. False: no memory. */
bool sim_context_start(void);

/* Checks of nearly every call: initialised, a current context, alive, no sticky error. */
CUresult sim_enter(struct sim_context **context);

/* The same for a context given by handle, which need not be current; NULL means the current one. */
CUresult sim_enter_with(CUcontext handle, struct sim_context **context);

/* Keep the first fault of a context. */
void sim_context_fault(struct sim_context *context, CUresult error);
CUresult sim_context_error(const struct sim_context *context);

/* Wait until everything submitted so far to any stream of the context has completed. */
CUresult sim_context_synchronize(struct sim_context *context);

/* Current context without any check, or NULL. */
struct sim_context *sim_context_current(void);

#endif
