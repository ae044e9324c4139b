#ifndef NEUTRINO_SIM_ERROR_H
#define NEUTRINO_SIM_ERROR_H

#include "driver/core/api.h"

#include <stdbool.h>
#include <stddef.h>

/* Find a result by name. `name` need not be NUL-terminated. */
bool sim_error_find(const char *name, size_t length, CUresult *result);

#endif
