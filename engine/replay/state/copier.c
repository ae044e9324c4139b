#include "replay/state/copier.h"

#include <sched.h>
#include <string.h>

enum {
    PIECE_BYTES = 64 << 10,
    HELPED_BYTES = 256 << 10, /* a choice, as is the size of a piece */
    PROCESSORS_EACH = 4,      /* the judge compares earlier outputs meanwhile */
    LOOKS = 4000              /* then a helper sleeps, and leaves its processor to others */
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Claim a piece and copy it. Without a piece to claim, return false. */
static bool copy_piece(struct nb_copier *copier)
{
    uint64_t claims = atomic_load(&copier->claims);
    do {
        if ((uint32_t)claims == 0)
            return false;
        /* A helper that was held up here must not claim a piece of a later copy: its number differs. */
    } while (!atomic_compare_exchange_weak(&copier->claims, &claims, claims - 1));
    const size_t begin = ((uint32_t)claims - 1) * (size_t)PIECE_BYTES;
    const size_t left = copier->bytes - begin;
    memcpy(copier->to + begin, copier->from + begin, left < PIECE_BYTES ? left : PIECE_BYTES);
    atomic_fetch_add(&copier->finished, 1);
    return true;
}

static bool has_work(struct nb_copier *copier)
{
    return (uint32_t)atomic_load(&copier->claims) != 0 || atomic_load(&copier->ends);
}

static void sleep_until_work(struct nb_copier *copier)
{
    pthread_mutex_lock(&copier->lock);
    /* Before the last look: nb_copier_copy() wakes only those that it sees here. */
    atomic_fetch_add(&copier->sleeping, 1);
    while (!has_work(copier))
        pthread_cond_wait(&copier->work, &copier->lock);
    atomic_fetch_sub(&copier->sleeping, 1);
    pthread_mutex_unlock(&copier->lock);
}

static void wake(struct nb_copier *copier)
{
    pthread_mutex_lock(&copier->lock);
    pthread_cond_broadcast(&copier->work);
    pthread_mutex_unlock(&copier->lock);
}

static void *help(void *argument)
{
    struct nb_copier *copier = argument;
    while (!atomic_load(&copier->ends)) {
        uint32_t looks = 0;
        while (looks < LOOKS && !has_work(copier)) {
            relax();
            looks++;
        }
        if (looks == LOOKS)
            sleep_until_work(copier);
        while (copy_piece(copier))
            ;
    }
    return NULL;
}

uint32_t nb_copier_wished(void)
{
    cpu_set_t processors;
    const bool known = sched_getaffinity(0, sizeof processors, &processors) == 0;
    return known ? (uint32_t)CPU_COUNT(&processors) / PROCESSORS_EACH : 0;
}

void nb_copier_open(struct nb_copier *copier, uint32_t helpers)
{
    pthread_mutex_init(&copier->lock, NULL);
    pthread_cond_init(&copier->work, NULL);
    for (uint32_t i = 0; i < helpers && i < NB_COPIER_HELPERS; i++)
        if (pthread_create(&copier->helpers[copier->count], NULL, help, copier) == 0)
            copier->count++;
}

void nb_copier_copy(struct nb_copier *copier, void *to, const void *from, size_t bytes)
{
    if (copier->count == 0 || bytes < HELPED_BYTES || bytes > (size_t)PIECE_BYTES * UINT32_MAX) {
        memcpy(to, from, bytes);
        return;
    }
    const uint32_t pieces = (uint32_t)((bytes + PIECE_BYTES - 1) / PIECE_BYTES);
    copier->from = from;
    copier->to = to;
    copier->bytes = bytes;
    atomic_store(&copier->finished, 0);
    const uint64_t number = (atomic_load(&copier->claims) >> 32) + 1;
    atomic_store(&copier->claims, number << 32 | pieces);
    if (atomic_load(&copier->sleeping) != 0)
        wake(copier);
    while (copy_piece(copier))
        ;
    while (atomic_load(&copier->finished) != pieces)
        sched_yield();
}

void nb_copier_close(struct nb_copier *copier)
{
    atomic_store(&copier->ends, true);
    if (copier->count != 0)
        wake(copier);
    for (uint32_t i = 0; i < copier->count; i++)
        pthread_join(copier->helpers[i], NULL);
    copier->count = 0;
}
