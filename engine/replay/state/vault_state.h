/* The part of struct nb_replay that belongs to vault.h. */
#ifndef NEUTRINO_ENGINE_VAULT_STATE_H
#define NEUTRINO_ENGINE_VAULT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

struct nb_vault_piece {
    CUdeviceptr address; /* reserved; 0: not yet */
    uint64_t bytes, used;
    CUmemGenericAllocationHandle handle;
    bool created, mapped;
};

struct nb_vault {
    struct nb_vault_piece *pieces;
    uint32_t count, room;
    uint64_t spent_ns; /* time spent on mapping and unmapping for `guard` */
};

#endif
