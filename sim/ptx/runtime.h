#ifndef NEUTRINO_SIM_PTX_RUNTIME_H
#define NEUTRINO_SIM_PTX_RUNTIME_H

#include "ptx/parser.h"

/* Does the engine bring a function of that name along? */
bool is_runtime_function(const struct token *name);

/* Define what the module declares of it. Functions that the program defines itself stay as they are. */
bool add_runtime(struct parser *parser);

#endif
