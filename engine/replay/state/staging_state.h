/* The part of struct nb_replay that belongs to staging.h. */
#ifndef NEUTRINO_ENGINE_STAGING_STATE_H
#define NEUTRINO_ENGINE_STAGING_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "replay/base/driver.h"

#define NB_STAGING_BYTES   (8u << 20)   /* maximum bytes of each of two halves */
#define NB_STAGING_GUARDED (512u << 10) /* the same if it is overwritten before every sample */

struct nb_staging {
    uint8_t *host;
    size_t half_bytes;
    CUevent free[2]; /* the device has read that half */
    uint32_t half;
    size_t begin, end; /* bounds of the bytes in the half that are not queued yet */
    CUdeviceptr target;
};

#endif
