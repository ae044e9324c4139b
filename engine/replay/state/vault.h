/* Device memory of ours that lasts from sample to sample and is read again: the copy of the state, the input
 * sets.
 *
 * A kernel reads and writes every address that is mapped. Were the copy of the state among them, a kernel
 * could leave there what the next sample begins with; were the input sets, it could work on one that comes
 * later. So with the option `guard` none of this is mapped while the region runs. Mapping takes the driver 30
 * to 55 us a piece, whatever its size, so there is one piece where the caller says beforehand how much it
 * will be.
 *
 * What has to stay mapped carries nothing from one sample to the next: recorded memory, variables, uploads
 * and outputs are written anew, scratch memory, staging, the signal and shared memory too
 * (nb_cold_make_ready). That is not all there is. A kernel that knows where to look can keep something in
 *     local memory and registers of threads that are gone, and the heap of malloc in kernels, which no call
 * empties (strict bounds the heap; nb_utility_read and nb_utility_scrub run over some registers, by chance);
 *     code, its own and ours, constants and graphs' parameters, which lie in memory that no driver protects;
 *     the driver's own pages, such as those that the events' times are written to.
 * For those the schedule has input sets that are used once (benchguard/replay/schedule.py): what is kept does
 * not help there; and the host's clock beside the events' (empty_host_us, tail_us), which no kernel reaches.
 */
#ifndef NEUTRINO_ENGINE_VAULT_H
#define NEUTRINO_ENGINE_VAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/state/vault_state.h"

struct nb_replay;

/* Make room for `bytes` in one piece: what is taken next is from there. */
int nb_vault_reserve(struct nb_replay *replay, uint64_t bytes) __attribute__((visibility("hidden")));

/* `bytes` bytes, aligned to 256, in a new piece if the last one is full. They are not zero. */
int nb_vault_take(struct nb_replay *replay, uint64_t bytes, CUdeviceptr *address)
    __attribute__((visibility("hidden")));

/* Map all of it; before anything there is read or written. */
int nb_vault_open(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* With the option `guard`: unmap all of it, and return with the device idle. Before the region runs. */
int nb_vault_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_vault_free(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
