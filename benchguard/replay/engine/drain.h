/* Large outputs, from the device to pageable memory: several pieces are on their way at once, and several
 * threads empty those that have come.
 *
 * One thread copies 10 to 13 GB/s into shared memory on an H200's host, a quarter of what the bus brings. The
 * pinned pieces are few and small, as kernels reach them: they are overwritten before every strict sample.
 * They are made when they are first needed. */
#ifndef NEUTRINO_ENGINE_DRAIN_H
#define NEUTRINO_ENGINE_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "crew.h"
#include "driver.h"

struct nb_replay;

#define NB_DRAIN_PIECE (1u << 20)
#define NB_DRAIN_WORTH (2u << 20) /* bytes from which on it is */

struct nb_drain {
    uint8_t *host; /* NB_CREW_COPIES pieces; NULL: not yet */
    CUevent landed[NB_CREW_COPIES];
    struct nb_crew crew;
    bool manned;
};

/* Bytes of the device, in the host's memory when it returns. */
int nb_drain_fetch(struct nb_replay *replay, CUdeviceptr source, uint64_t bytes, void *into)
    __attribute__((visibility("hidden")));

/* Overwrite what kernels reach; the stream is idle. */
void nb_drain_scrub(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_drain_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
