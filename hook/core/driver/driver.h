/* The real driver behind the shim. */
#ifndef NEUTRINO_DRIVER_H
#define NEUTRINO_DRIVER_H

#include "core/process/component.h"

/* Path by which the driver was opened; "" before that, or if opening it failed. */
const char *nb_driver_path(void) __attribute__((visibility("hidden")));

/* Have `prepare` called before the driver is opened. Called by the composition root. */
void nb_driver_install(void (*prepare)(void)) __attribute__((visibility("hidden")));

/* From now on every call that returns a status fails. Exports that return no status, and those that only
 * describe an error, still reach the driver. */
void nb_driver_refuse(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_driver_component __attribute__((visibility("hidden")));

#endif
