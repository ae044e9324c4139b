/* Calls that a replay cannot repeat, as the generated wrappers report them (semantics/cuda.toml, [refused]).
 * The vendor's half, in hook/<vendor>/capture_refuse.c. Only where nb_region_is_open(). */
#ifndef NEUTRINO_REFUSE_H
#define NEUTRINO_REFUSE_H

#include "core/process/call.h"
#include "core/process/component.h"

/* The call has returned: one that failed, or that the driver made itself, had no effect to repeat. */
void nb_refuse(const struct nb_call *call, int result, const char *reason)
    __attribute__((visibility("hidden")));

/* The same for work that was given to a stream. Where a stream capture took it, the graph has it instead. */
void nb_refuse_on_stream(const struct nb_call *call, int result, void *stream, const char *reason)
    __attribute__((visibility("hidden")));

/* A call that a replay cannot repeat, made while the region is open. Written once for a call and reason;
 * `reason` is a sentence for people: "reads device memory; what follows may depend on it". */
void nb_capture_refuse(const struct nb_call *call, const char *reason) __attribute__((visibility("hidden")));

/* The same for a read by the host, which harms a replay only where work follows. */
void nb_capture_refuse_read(const struct nb_call *call, const char *reason)
    __attribute__((visibility("hidden")));

/* There was no memory to keep what the driver was given in this region, or what every later region needs to
 * know. Written once. */
void nb_capture_lost(void) __attribute__((visibility("hidden")));
void nb_capture_lost_for_good(void) __attribute__((visibility("hidden")));

/* A region begins: refuse it if anything was lost for good. */
void nb_capture_refuse_losses(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_refuse_component __attribute__((visibility("hidden")));

#endif
