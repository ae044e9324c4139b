/* The vault: device memory of the engine that lasts from sample to sample: the shadow and the input sets.
 *
 * A kernel can access every mapped address. If the shadow were mapped, a kernel could change the state with
 * which the next sample begins; if input sets were mapped, it could work on later ones. So with the option
 * `guard` the vault is not mapped while the region runs. Mapping takes the driver 30 to 55 us per piece of
 * any size, so there is one piece if the caller announces the total size.
 *
 * Memory that stays mapped carries nothing from one sample to the next: recorded memory, globals, uploads and
 * outputs are rewritten, and so are scratch memory, staging, the signal and shared memory
 * (nb_cold_make_ready, nb_cold_chill). A kernel can still keep data in local memory and registers of ended
 * threads, and in the heap of malloc in kernels, which no call empties (strict bounds the heap;
 * nb_utility_read and nb_utility_scrub happen to overwrite some registers); in code, constants and parameters
 * of graphs, in memory that no driver protects; and in the driver's own pages, for example those that receive
 * the event times.
 *
 * Against these there are one-use input sets (benchguard/replay/schedule.py), for which kept data is useless,
 * and the host's clock beside the events' (empty_host_us, tail_us), which no kernel can change. */
#ifndef NEUTRINO_ENGINE_VAULT_H
#define NEUTRINO_ENGINE_VAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/state/vault_state.h"

struct nb_replay;

/* Make room for `bytes` in one piece, from which later takes are served. */
int nb_vault_reserve(struct nb_replay *replay, uint64_t bytes) __attribute__((visibility("hidden")));

/* Take `bytes` bytes, aligned to 256, from a new piece if the last one is full. They are not zeroed. */
int nb_vault_take(struct nb_replay *replay, uint64_t bytes, CUdeviceptr *address)
    __attribute__((visibility("hidden")));

/* Map the vault, before any access to it. */
int nb_vault_open(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* With the option `guard`: unmap the vault before the region runs. Returns with the device idle. */
int nb_vault_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_vault_free(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
