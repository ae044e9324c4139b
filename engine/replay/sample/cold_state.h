/* The part of struct nb_replay that belongs to cold.h. */
#ifndef NEUTRINO_ENGINE_COLD_STATE_H
#define NEUTRINO_ENGINE_COLD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

struct nb_cold_state {
    CUdeviceptr scratch;    /* one half to be written, the other one to be read */
    uint64_t scratch_bytes; /* of each half */
    bool warm;              /* the next samples find the state in the cache */
    bool follows;           /* the next samples find the memory that the run before left */
};

#endif
