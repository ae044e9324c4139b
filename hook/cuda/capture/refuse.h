/* Refusals: calls that a replay cannot repeat. Generated wrappers report those listed in
 * semantics/cuda.toml ([refused]). Only while a region is open. */
#ifndef NEUTRINO_REFUSE_H
#define NEUTRINO_REFUSE_H

#include "core/process/call.h"
#include "core/process/component.h"

/* Refuse a call that has returned. A call that failed, or that the driver made itself, has no effect to
 * repeat. */
void nb_refuse(const struct nb_call *call, int result, const char *reason)
    __attribute__((visibility("hidden")));

/* The same for work on a stream. If stream capture took the work, the graph contains it instead. */
void nb_refuse_on_stream(const struct nb_call *call, int result, void *stream, const char *reason)
    __attribute__((visibility("hidden")));

/* Refuse a call that a replay cannot repeat. Written once for a call and reason. `reason` completes a
 * sentence about the call: "reads device memory; what follows may depend on it". */
void nb_capture_refuse(const struct nb_call *call, const char *reason) __attribute__((visibility("hidden")));

/* The same for a read by the host, which harms a replay only if work follows. */
void nb_capture_refuse_read(const struct nb_call *call, const char *reason)
    __attribute__((visibility("hidden")));

/* The same for a kernel that gets the address of host memory. A replay is possible if the kernel does not
 * access it. A kernel of torch got one in a ResNet18 on an H100, perhaps in padding between its parameters.
 */
void nb_capture_refuse_address(const struct nb_call *call, const char *reason)
    __attribute__((visibility("hidden")));

/* Refuse the open region because memory ran out for data that the driver was given (incomplete), or also
 * all later regions that need the data (later). Written once. */
void nb_capture_refuse_incomplete(void) __attribute__((visibility("hidden")));
void nb_capture_refuse_later(void) __attribute__((visibility("hidden")));

/* When a region begins: refuse it if data of later regions was lost. */
void nb_capture_refuse_earlier_losses(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_refuse_component __attribute__((visibility("hidden")));

#endif
