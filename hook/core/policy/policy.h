/* Decides whether a call may reach the driver.
 *
 * A call that no rule mentions costs a traced call the test of one byte, and a passed-through call nothing:
 * the jump of an export leads to a guard only if a rule mentions the export. Until the process has attached,
 * every byte is 1 and every jump leads to the resolving stub, so that its first call is decided too. */
#ifndef NEUTRINO_POLICY_H
#define NEUTRINO_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/policy/facts.h"
#include "core/process/component.h"

/* Decide a call. Returns 0 if it may go on, else the code to return. Preserves errno. */
int nb_policy_check(uint32_t slot, const void *caller, const uint64_t *words, uint32_t count)
    __attribute__((visibility("hidden"), cold));

/* The same for an export that is only passed through, whose words are unknown. Called by nb_guard_entry. */
int nb_policy_check_passed(uint32_t slot, const void *caller) __attribute__((visibility("hidden")));

/* Called once, by the composition root. */
void nb_policy_install(const struct nb_policy_facts *facts) __attribute__((visibility("hidden")));

extern const struct nb_component nb_policy_component __attribute__((visibility("hidden")));

#endif
