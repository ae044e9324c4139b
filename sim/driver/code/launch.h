#ifndef NEUTRINO_SIM_LAUNCH_H
#define NEUTRINO_SIM_LAUNCH_H

#include "driver/core/api.h"

struct sim_context;
struct sim_launch_request;
struct sim_work;

/* Check the request and copy its parameters. The work can be queued or kept in a graph. */
CUresult sim_launch_prepare(struct sim_context *context, const struct sim_launch_request *request,
                            struct sim_work *work);

#endif
