/* Everything that keeps the submission out of the arena and away from the code that times it. */
#ifndef NEUTRINO_INLINE_GUARD_H
#define NEUTRINO_INLINE_GUARD_H

#include <stdint.h>

#include "inline/inline.h"

/* Closes the arena and guards it, our library and the driver's code, for all threads and for good. `driver`
 * is an address in the driver. Says what of it is in force. */
void nb_guard(const void *driver, struct nb_inline_armed *armed) __attribute__((visibility("hidden")));

#endif
