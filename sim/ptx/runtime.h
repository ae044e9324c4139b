#ifndef NEUTRINO_SIM_PTX_RUNTIME_H
#define NEUTRINO_SIM_PTX_RUNTIME_H

#include <stddef.h>

/* Returns the definition of a device runtime function, or NULL if the engine has none of that name. */
const char *ptx_runtime_text(const char *name, size_t length);

#endif
