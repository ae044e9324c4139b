/* Keeps the submission out of the arena and away from the timing code. */
#ifndef NEUTRINO_INLINE_GUARD_H
#define NEUTRINO_INLINE_GUARD_H

#include <stdint.h>

#include "inline/inline.h"

/* Close the arena and guard it, this library and the driver's code, for all threads and for good. `driver` is
 * an address in the driver. Returns the protections that are in force. */
void nb_guard(const void *driver, struct nb_inline_armed *armed) __attribute__((visibility("hidden")));

#endif
