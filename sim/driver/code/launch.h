#ifndef NEUTRINO_SIM_LAUNCH_H
#define NEUTRINO_SIM_LAUNCH_H

#include "driver/core/api.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_context;
struct sim_work;

/* A launch as the API describes it, in any of its forms. */
struct sim_launch_request {
    CUfunction function;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t cluster[3];           /* 0: none asked for */
    uint32_t preferred_cluster[3]; /* likewise */
    int cluster_mode;              /* CUlaunchAttributePortableClusterMode */
    bool cooperative;
    void **parameters;
    void **extra;
};

/* Check the request and copy its parameters: what is then to be queued or kept in a graph. */
CUresult sim_launch_prepare(struct sim_context *context, const struct sim_launch_request *request,
                            struct sim_work *work);

#endif
