/* The phase of the benchmark that the process is in: rules of a policy and readers of the log ask for it. */
#ifndef NEUTRINO_PHASE_H
#define NEUTRINO_PHASE_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/wire/record.h"

extern _Atomic uint32_t nb_phase_now __attribute__((visibility("hidden")));   /* enum nb_phase */
extern _Atomic uint32_t nb_phase_marks __attribute__((visibility("hidden"))); /* phases entered so far */

/* Enter a phase and write its mark. `caller` is an address in the code that asked for it. */
void nb_phase_enter(enum nb_phase phase, enum nb_phase_source source, const char *label, const void *caller)
    __attribute__((visibility("hidden")));

/* Exported beside the driver's names, for benchguard.phase(). `phase` is before, setup, warm-up, timing or
 * after; `label`, which may be NULL, is text for readers of the log. Returns 0; -1 if the process does not
 * run under a supervisor; -2 if no phase has this name. */
__attribute__((visibility("default"))) int neutrino_phase(const char *phase, const char *label);

#endif
