/* Threads that copy memory while the replay's own waits for the device. They call no driver, and sleep
 * between copies: nothing of them runs while a sample is timed. */
#ifndef NEUTRINO_ENGINE_CREW_H
#define NEUTRINO_ENGINE_CREW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NB_CREW_MAX = 4, NB_CREW_COPIES = 8 };

struct nb_crew_copy {
    void *to;
    const void *from; /* NULL: zeros */
    size_t bytes;
};

struct nb_crew {
    pthread_mutex_t lock;
    pthread_cond_t due, done;
    pthread_t threads[NB_CREW_MAX];
    uint32_t thread_count;
    bool leave;
    /* Copies have numbers from 1 on; n is in place n % NB_CREW_COPIES. */
    struct nb_crew_copy copies[NB_CREW_COPIES];
    uint64_t ended[NB_CREW_COPIES]; /* the last that was, in that place */
    uint64_t given, taken;
};

/* As many threads as there are other cores, and can be had. Without any, who gives a copy makes it. */
void nb_crew_start(struct nb_crew *crew) __attribute__((visibility("hidden")));

/* The number of the next copy. */
static inline uint64_t nb_crew_next(const struct nb_crew *crew)
{
    return crew->given + 1;
}

/* Wait until the copy before number `number` in its place has ended. */
void nb_crew_make_room(struct nb_crew *crew, uint64_t number) __attribute__((visibility("hidden")));

/* There must be room. */
void nb_crew_give(struct nb_crew *crew, const struct nb_crew_copy *copy)
    __attribute__((visibility("hidden")));

/* Wait for all copies. */
void nb_crew_settle(struct nb_crew *crew) __attribute__((visibility("hidden")));

/* All have ended. */
void nb_crew_dismiss(struct nb_crew *crew) __attribute__((visibility("hidden")));

#endif
