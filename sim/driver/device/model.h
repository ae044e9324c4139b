/* GPU models: SIM_GPU selects one. */
#ifndef NEUTRINO_SIM_MODEL_H
#define NEUTRINO_SIM_MODEL_H

#include "driver/core/api.h"

#include <stddef.h>
#include <stdint.h>

/* Properties that differ between GPUs. Common properties are in device.h. */
struct sim_model {
    const char *key;  /* value of SIM_GPU */
    const char *name; /* cuDeviceGetName */
    int major, minor; /* compute capability */
    int multiprocessors;
    unsigned char groups[16]; /* multiprocessors of each graphics processing cluster; 0 ends the list */
    uint64_t memory_bytes;
    int sm_threads, sm_blocks;
    int sm_shared, block_shared_optin, block_shared_reserved; /* bytes */
    int clock_khz, memory_clock_khz, bus_bits;
    int l2_bytes, l2_persisting_bytes;
    int single_to_double; /* ratio of single to double precision throughput */
    int copy_engines;
    int ecc;
    int pci_device; /* device ID << 16 | vendor ID; 0: none */
};

/* Read SIM_GPU. CUDA_ERROR_INVALID_DEVICE, with a line on stderr that lists the models, for an unknown name.
 * Called once, by cuInit. */
CUresult sim_model_select(void);

/* The selected model. Before sim_model_select: the default, `small`. */
const struct sim_model *sim_model(void);

static inline unsigned sim_multiprocessors(void)
{
    return (unsigned)sim_model()->multiprocessors;
}

/* Compute capability as one number: 90 for 9.0. */
unsigned sim_model_target(void);

#endif
