/* The attributes of cuLaunchKernelEx and of the cluster occupancy calls. */
#ifndef NEUTRINO_SIM_LAUNCH_ATTRIBUTE_H
#define NEUTRINO_SIM_LAUNCH_ATTRIBUTE_H

#include "driver/core/api.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_function;
struct sim_launch_request;

/* A request as `config` describes it, without function and parameters. */
CUresult sim_launch_configure(const CUlaunchConfig *config, struct sim_launch_request *request);

/* Blocks of the largest cluster that the function may have: 0 on devices without clusters. */
uint32_t sim_cluster_most(const struct sim_function *function);

/* CUDA_ERROR_INVALID_CLUSTER_SIZE unless the clusters asked for are possible and fill the grid. */
CUresult sim_cluster_check(const struct sim_launch_request *request, const struct sim_function *function);

#endif
