/* Calls that a replay cannot repeat, as the generated wrappers report them (semantics/cuda.toml, [refused]).
 * The vendor's half, in hook/<vendor>/capture_refuse.c. Only where nb_region_is_open(). */
#ifndef NEUTRINO_REFUSE_H
#define NEUTRINO_REFUSE_H

#include "core/process/call.h"

/* The call has returned: one that failed, or that the driver made itself, had no effect to repeat. */
void nb_refuse(const struct nb_call *call, int result, const char *reason)
    __attribute__((visibility("hidden")));

/* The same for work that was given to a stream. Where a stream capture took it, the graph has it instead. */
void nb_refuse_on_stream(const struct nb_call *call, int result, void *stream, const char *reason)
    __attribute__((visibility("hidden")));

#endif
