#ifndef NEUTRINO_SIM_PTX_RUNTIME_H
#define NEUTRINO_SIM_PTX_RUNTIME_H

#include "ptx/parser.h"

/* Whether the engine defines a function of that name. */
bool ptx_is_runtime_function(const struct token *name);

/* Defines the runtime functions that the module declares and does not define. */
bool ptx_add_runtime(struct parser *parser);

#endif
