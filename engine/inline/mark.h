/* Marks around each sample in the audit log, by which readers tell the work of one sample from another's.
 *
 * The submission's process writes the log, so the marks serve readers, and no verdict depends on them. */
#ifndef NEUTRINO_INLINE_MARK_H
#define NEUTRINO_INLINE_MARK_H

#include "inline/session.h"

/* Find the shim's neutrino_phase, before the submission is loaded. Without a shim there are no marks. */
void nb_mark_find(struct nb_session *session) __attribute__((visibility("hidden")));

/* The device is idle, and a sample begins. Samples count from 0, the probe. */
void nb_mark_begin(const struct nb_session *session, uint32_t sample) __attribute__((visibility("hidden")));

/* The end event and the check are queued behind the sample's work. */
void nb_mark_end(const struct nb_session *session, uint32_t sample) __attribute__((visibility("hidden")));

#endif
