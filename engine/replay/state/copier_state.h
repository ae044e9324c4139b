/* The part of struct nb_replay that belongs to copier.h. */
#ifndef NEUTRINO_ENGINE_COPIER_STATE_H
#define NEUTRINO_ENGINE_COPIER_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NB_COPIER_HELPERS = 3 }; /* a choice: four threads copied in half of the time of one (ADR 49) */

struct nb_copier {
    pthread_t helpers[NB_COPIER_HELPERS];
    uint32_t count;
    /* The copy in progress. It changes only while no piece of it is claimed. */
    const uint8_t *from;
    uint8_t *to;
    size_t bytes;
    /* The number of the copy in the high 32 bits, the number of its unclaimed pieces in the low ones. */
    _Atomic uint64_t claims;
    _Atomic uint32_t finished; /* pieces */
    /* Helpers that found no work for a while. */
    pthread_mutex_t lock;
    pthread_cond_t work;
    _Atomic uint32_t sleeping;
    atomic_bool ends;
};

#endif
