/* Exports whose successful calls have no record, because the user did not choose them (`--calls`,
 * `--no-lookups`). */
#ifndef NEUTRINO_OMITTED_H
#define NEUTRINO_OMITTED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/component.h"
#include "core/ring/ring.h"

/* A byte for each slot that a record can have. Filled from the session's table when the process attaches. */
extern uint8_t nb_omitted[UINT16_MAX + 1] __attribute__((visibility("hidden")));

extern const struct nb_component nb_omitted_component __attribute__((visibility("hidden")));

/* Does this call need no record? It is counted then. */
static inline __attribute__((always_inline)) bool nb_is_omitted(struct nb_thread *thread, uint32_t slot,
                                                                int result)
{
    if (__builtin_expect(nb_omitted[slot] == 0, 1) || result != 0)
        return false;
    const uint64_t count = atomic_load_explicit(&thread->ring->omitted, memory_order_relaxed);
    atomic_store_explicit(&thread->ring->omitted, count + 1, memory_order_relaxed);
    return true;
}

#endif
