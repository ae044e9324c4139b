#include "crew.h"

#include <sched.h>
#include <signal.h>
#include <string.h>

static void make(const struct nb_crew_copy *copy)
{
    if (copy->from != NULL)
        memcpy(copy->to, copy->from, copy->bytes);
    else
        memset(copy->to, 0, copy->bytes);
}

static void *work(void *argument)
{
    struct nb_crew *crew = argument;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->taken == crew->given && !crew->leave)
            pthread_cond_wait(&crew->due, &crew->lock);
        if (crew->taken == crew->given)
            break;
        const uint64_t number = ++crew->taken;
        const struct nb_crew_copy copy = crew->copies[number % NB_CREW_COPIES];
        pthread_mutex_unlock(&crew->lock);
        make(&copy);
        pthread_mutex_lock(&crew->lock);
        crew->ended[number % NB_CREW_COPIES] = number;
        pthread_cond_signal(&crew->done);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static uint32_t other_cores(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0)
        return NB_CREW_MAX; /* more cores than the set has room for */
    const int count = CPU_COUNT(&cores) - 1;
    return count < NB_CREW_MAX ? (uint32_t)count : NB_CREW_MAX;
}

void nb_crew_start(struct nb_crew *crew)
{
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->due, NULL);
    pthread_cond_init(&crew->done, NULL);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's own */
    const uint32_t wanted = other_cores();
    while (crew->thread_count < wanted &&
           pthread_create(&crew->threads[crew->thread_count], NULL, work, crew) == 0)
        crew->thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* With the lock held. Places that were never used have ended number 0. */
static void wait_for(struct nb_crew *crew, uint64_t number)
{
    while (crew->ended[number % NB_CREW_COPIES] < number)
        pthread_cond_wait(&crew->done, &crew->lock);
}

void nb_crew_make_room(struct nb_crew *crew, uint64_t number)
{
    if (number <= NB_CREW_COPIES)
        return;
    pthread_mutex_lock(&crew->lock);
    wait_for(crew, number - NB_CREW_COPIES);
    pthread_mutex_unlock(&crew->lock);
}

void nb_crew_give(struct nb_crew *crew, const struct nb_crew_copy *copy)
{
    if (crew->thread_count == 0)
        make(copy);
    pthread_mutex_lock(&crew->lock);
    const uint64_t number = ++crew->given;
    crew->copies[number % NB_CREW_COPIES] = *copy;
    if (crew->thread_count == 0)
        crew->ended[number % NB_CREW_COPIES] = crew->taken = number;
    else
        pthread_cond_signal(&crew->due);
    pthread_mutex_unlock(&crew->lock);
}

void nb_crew_settle(struct nb_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    const uint64_t oldest = crew->given >= NB_CREW_COPIES ? crew->given - NB_CREW_COPIES + 1 : 1;
    for (uint64_t number = oldest; number <= crew->given; number++)
        wait_for(crew, number);
    pthread_mutex_unlock(&crew->lock);
}

void nb_crew_dismiss(struct nb_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->leave = true;
    pthread_cond_broadcast(&crew->due);
    pthread_mutex_unlock(&crew->lock);
    for (uint32_t i = 0; i < crew->thread_count; i++)
        pthread_join(crew->threads[i], NULL);
    pthread_cond_destroy(&crew->done);
    pthread_cond_destroy(&crew->due);
    pthread_mutex_destroy(&crew->lock);
}
