/* Pinned host memory between the device and pageable memory: copies in large pieces that overlap. */
#ifndef NEUTRINO_ENGINE_STAGING_H
#define NEUTRINO_ENGINE_STAGING_H

#include <stddef.h>
#include <stdint.h>

#include "replay/state/staging_state.h"

struct nb_replay;

int nb_staging_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Queue bytes for the device on the timed stream; neighbouring bytes are sent together. nb_staging_flush
 * queues the rest. */
int nb_staging_put(struct nb_replay *replay, CUdeviceptr target, const void *data, uint64_t bytes)
    __attribute__((visibility("hidden")));
int nb_staging_flush(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Copy bytes of the device to host memory, and wait for them. */
int nb_staging_fetch(struct nb_replay *replay, CUdeviceptr source, uint64_t bytes, void *into)
    __attribute__((visibility("hidden")));

/* Overwrite the buffer, which kernels can access. The stream must be idle. */
void nb_staging_scrub(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_staging_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
