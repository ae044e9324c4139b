/* Decides whether a call may reach the driver.
 *
 * A call that no rule mentions costs a traced call the test of one byte, and a passed-through call nothing:
 * the jump of an export leads to a guard only if a rule mentions the export. Until the process has attached,
 * every byte is 1 and every jump leads to the resolving stub, so that its first call is decided too. */
#ifndef NEUTRINO_POLICY_H
#define NEUTRINO_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/component.h"
#include "core/ring/ring.h"

/* Generated (surface.S): a byte for each export, not 0 if its calls must be decided. */
extern uint8_t nb_guarded[] __attribute__((visibility("hidden")));

/* Read the session's policy. Called once, when the process attaches. */
void nb_policy_start(void) __attribute__((visibility("hidden")));

/* Decide a call. Returns 0 if it may go on, else the code to return. Preserves errno. */
int nb_policy_check(uint32_t slot, const void *caller, const uint64_t *words, uint32_t count)
    __attribute__((visibility("hidden"), cold));

/* The same for an export that is only passed through, whose words are unknown. Called by nb_guard_entry. */
int nb_policy_check_passed(uint32_t slot, const void *caller) __attribute__((visibility("hidden")));

/* Facts that depend on the vendor's driver. */
struct nb_policy_facts {
    uint64_t (*context)(void);
    const char *(*kernel)(struct nb_thread *thread, uint64_t function); /* "" if unknown */
    uint64_t (*node_kernel)(uint64_t node_parameters);                  /* its function */
    uint64_t (*config_stream)(uint64_t config);
    uint32_t (*config_attributes)(uint64_t config, uint32_t *ids, uint32_t most); /* their number */
};

/* Called once, by the composition root. */
void nb_policy_install(const struct nb_policy_facts *facts) __attribute__((visibility("hidden")));

extern const struct nb_component nb_policy_component __attribute__((visibility("hidden")));

#endif
