/* Events and timing: which events keep time, which stream is timed, and phases between two timing events. */
#ifndef NEUTRINO_POLICY_EVENTS_H
#define NEUTRINO_POLICY_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/component.h"

/* A policy has facts about events, or phases between them: note the events from now on. */
void nb_policy_keep_events(void) __attribute__((visibility("hidden")));

/* Hooks call this after an event was created. A handle that is used again is noted anew. */
void nb_policy_event_created(uint64_t event, bool keeps_time) __attribute__((visibility("hidden")));

bool nb_policy_event_keeps_time(uint64_t event) __attribute__((visibility("hidden")));

/* Is this the timed stream, that of the phase's first timing event? The first stream that is asked for in a
 * phase of timing becomes the timed stream. `slot` is the call that names it. */
bool nb_policy_is_timed_stream(uint32_t slot, uint64_t stream) __attribute__((visibility("hidden")));

/* For policies whose phase of timing is the time between two timing events with work between them. */
void nb_policy_window_event(uint32_t slot, uint64_t event, uint64_t stream, const void *caller)
    __attribute__((visibility("hidden")));
void nb_policy_window_work(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_policy_events_component __attribute__((visibility("hidden")));

#endif
