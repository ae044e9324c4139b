/* The part of struct nb_replay that belongs to host_reads.h. */
#ifndef NEUTRINO_ENGINE_HOST_READS_STATE_H
#define NEUTRINO_ENGINE_HOST_READS_STATE_H

#include <stdint.h>

struct nb_host_reads {
    uint32_t *operations; /* indexes of the copies, ascending */
    uint64_t *places;     /* by copy: offset in `landing` */
    uint32_t count;
    uint8_t *landing; /* pinned */
    uint64_t landing_bytes;
};

#endif
