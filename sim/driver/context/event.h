/* Events over all streams of a context. */
#ifndef NEUTRINO_SIM_CONTEXT_EVENT_H
#define NEUTRINO_SIM_CONTEXT_EVENT_H

#include "driver/context/context.h"

struct sim_event;

/* Record the event after all work that the context has been given so far. */
CUresult sim_context_record(struct sim_context *context, struct sim_event *event);

/* Make all work that the context is given from now on wait for the event. */
CUresult sim_context_wait(struct sim_context *context, struct sim_event *event);

#endif
