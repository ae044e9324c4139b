/* Copies to the host: each sample repeats them and holds their bytes against the recorded ones.
 *
 * The recorded operations are the host's decisions on the recorded bytes. They are the program's work on
 * other inputs only if these inputs give the host equal bytes (docs/adr/0020). The copies go to pinned
 * memory, which kernels can write. So a difference found there is a difference, but equality must also hold
 * in a run in which the host compares after each copy, before any later kernel begins
 * (nb_replay_check_reads). */
#ifndef NEUTRINO_ENGINE_HOST_READS_H
#define NEUTRINO_ENGINE_HOST_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire/capture_format.h"
#include "replay/rebuild/host_reads_state.h"

struct nb_replay;

/* Whether the operation is a copy to the host that moves bytes. */
bool nb_is_host_read(const struct nb_capture_operation *operation) __attribute__((visibility("hidden")));

/* Place all copies in pinned memory. */
int nb_host_reads_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* The host address at which the copy of operation `index` ends. */
void *nb_host_reads_place(const struct nb_replay *replay, uint32_t index)
    __attribute__((visibility("hidden")));

/* Overwrite the destinations, every byte with another than the recorded one: a copy that does not run cannot
 * pass. The device must be idle. */
void nb_host_reads_reset(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Compare the bytes of the copy of operation `index` with the recorded ones. NB_REPLAY_OTHER_READ if they
 * differ. The copy must have ended. */
int nb_host_reads_check(struct nb_replay *replay, uint32_t index) __attribute__((visibility("hidden")));

void nb_host_reads_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
