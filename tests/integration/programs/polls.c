/* polls QUERIES [kill]: asks QUERIES times whether an event is done that waits for a host function, lets the
 * function end, and asks till the event is done. With "kill" the process is killed after QUERIES. Prints the
 * number of queries. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "scale.h"

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void wait_for_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
}

int main(int argc, char **argv)
{
    const unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long queries = 0;
    CUcontext context;
    CUevent event;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuEventCreate(&event, 0));
    pthread_mutex_lock(&held);
    CHECK(cuLaunchHostFunc(NULL, wait_for_main, NULL));
    CHECK(cuEventRecord(event, NULL));
    for (; queries < wanted; queries++)
        if (cuEventQuery(event) != CUDA_ERROR_NOT_READY)
            return 1;
    if (argc > 2) {
        printf("%lu\n", queries);
        fflush(stdout);
        kill(getpid(), SIGKILL);
    }
    pthread_mutex_unlock(&held);
    do
        queries++;
    while (cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    printf("%lu\n", queries);
    return 0;
}
