/* Launch requests: cuLaunchKernelEx, its attributes, and the cluster occupancy calls. */
#ifndef NEUTRINO_SIM_LAUNCH_REQUEST_H
#define NEUTRINO_SIM_LAUNCH_REQUEST_H

#include "driver/core/api.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_function;

/* A launch as the API describes it, in any of its forms. */
struct sim_launch_request {
    CUfunction function;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t cluster[3];           /* 0: none requested */
    uint32_t preferred_cluster[3]; /* 0: none requested */
    int cluster_mode;              /* CUlaunchAttributePortableClusterMode */
    bool cooperative;
    void **parameters;
    void **extra;
};

/* Convert `config` to a request without function and parameters. */
CUresult sim_launch_configure(const CUlaunchConfig *config, struct sim_launch_request *request);

/* Number of blocks in the largest cluster that the function may have. 0 on devices without clusters. */
uint32_t sim_cluster_limit(const struct sim_function *function);

/* CUDA_ERROR_INVALID_CLUSTER_SIZE unless the requested clusters are possible and fill the grid. */
CUresult sim_cluster_check(const struct sim_launch_request *request, const struct sim_function *function);

#endif
