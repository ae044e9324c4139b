/* Two threads run processes at once. Prints how often a handler of pthread_atfork began while another was
 * running. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "replay/capture/processes.h"
#include "replay/replay.h"

enum { ROUNDS = 5, HANDLER_MICROSECONDS = 20000 };

static atomic_int running, overlaps;

static void prepare(void)
{
    if (atomic_fetch_add(&running, 1) > 0)
        atomic_fetch_add(&overlaps, 1);
    usleep(HANDLER_MICROSECONDS);
    atomic_fetch_sub(&running, 1);
}

static int end(void *work, uint32_t index, int lifeline)
{
    (void)work, (void)index, (void)lifeline;
    return 7;
}

static void *run(void *barrier)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct nb_process_ends ends;
        char error[NB_REPLAY_TEXT];
        (void)pthread_barrier_wait(barrier);
        if (nb_processes_run(1, end, NULL, 60, &ends, error) != NB_REPLAY_OK || !ends.in_time)
            return "failed";
    }
    return NULL;
}

int main(void)
{
    pthread_barrier_t barrier;
    pthread_t threads[2];
    void *failed[2];
    if (pthread_atfork(prepare, NULL, NULL) != 0 || pthread_barrier_init(&barrier, NULL, 2) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run, &barrier) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], &failed[i]);
    printf("%d overlaps\n", atomic_load(&overlaps));
    return failed[0] != NULL || failed[1] != NULL;
}
