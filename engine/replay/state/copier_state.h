/* The part of struct nb_replay that belongs to copier.h. */
#ifndef NEUTRINO_ENGINE_COPIER_STATE_H
#define NEUTRINO_ENGINE_COPIER_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NB_COPIER_HELPERS = 3 }; /* with four threads a copy is limited by the bus to the device */

struct nb_copier {
    pthread_t helpers[NB_COPIER_HELPERS];
    uint32_t count;
    /* The copy in progress. It changes only while no piece of it is claimed. */
    const uint8_t *from;
    uint8_t *to;
    size_t bytes;
    _Atomic uint64_t
        claims; /* the copy's number, and in the low 32 bits the pieces that nobody has claimed */
    _Atomic uint32_t finished; /* pieces */
    /* Helpers that found no work for a while. */
    pthread_mutex_t lock;
    pthread_cond_t work;
    _Atomic uint32_t sleeping;
    atomic_bool ends;
};

#endif
