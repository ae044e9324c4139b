/* The begin and the end of a context. A primary context begins and ends any number of times. */
#ifndef NEUTRINO_SIM_CONTEXT_LIFE_H
#define NEUTRINO_SIM_CONTEXT_LIFE_H

#include "driver/context/context.h"

/* Set the context's defaults and make its legacy stream. */
CUresult sim_context_begin(struct sim_context *context);

/* Wait for the context's work, as cuCtxDestroy does, then release everything that the context owns. */
void sim_context_end(struct sim_context *context);

#endif
