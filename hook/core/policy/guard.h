/* The test that a traced wrapper makes before the call. */
#ifndef NEUTRINO_POLICY_GUARD_H
#define NEUTRINO_POLICY_GUARD_H

#include <stdbool.h>

#include "core/driver/slots.h"
#include "core/policy/policy.h"

static inline __attribute__((always_inline)) bool nb_is_guarded(uint32_t slot)
{
    return __builtin_expect(__atomic_load_n(&nb_guarded[slot], __ATOMIC_RELAXED) != 0, 0);
}

#endif
