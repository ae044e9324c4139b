/* The GPU that the device says it is: SIM_GPU. */
#ifndef NEUTRINO_SIM_MODEL_H
#define NEUTRINO_SIM_MODEL_H

#include "driver/core/api.h"

#include <stddef.h>
#include <stdint.h>

/* What differs between GPUs; what no longer does is in device.h. */
struct sim_model {
    const char *key;  /* in SIM_GPU */
    const char *name; /* cuDeviceGetName */
    int major, minor; /* compute capability */
    int multiprocessors;
    unsigned char groups[16]; /* multiprocessors of each graphics processing cluster, up to a 0 */
    uint64_t memory_bytes;
    int sm_threads, sm_blocks;
    int sm_shared, block_shared_optin, block_shared_reserved; /* bytes */
    int clock_khz, memory_clock_khz, bus_bits;
    int l2_bytes, l2_persisting_bytes;
    int single_to_double; /* ratio of single to double precision operations */
    int copy_engines;
    int ecc;
    int pci_device; /* device ID << 16 | vendor ID; 0: none */
};

/* Read SIM_GPU. CUDA_ERROR_INVALID_DEVICE, and one line on stderr that lists the names, if no GPU has that
 * name. To be called once, by cuInit. */
CUresult sim_model_select(void);

/* The chosen one; the small default before sim_model_select. */
const struct sim_model *sim_model(void);

static inline unsigned sim_multiprocessors(void)
{
    return (unsigned)sim_model()->multiprocessors;
}

/* Compute capability as one number: 90 for 9.0. */
unsigned sim_model_target(void);

#endif
