/* Threads that all use their own default stream in one region. Compiled with per-thread default streams. */
#include <pthread.h>

#include "region.h"

enum { THREADS = 4, SETS = 50 };

static CUcontext context;
static CUdeviceptr memory;

static void *use(void *argument)
{
    const int *number = argument;
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < SETS; i++)
        CHECK(cuMemsetD8Async(memory + (unsigned)*number, (unsigned char)i, 1, NULL));
    CHECK(cuStreamSynchronize(NULL));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    region_start();
    memory = region_allocate("memory", 4096);
    CHECK(cuCtxGetCurrent(&context));
    region_begin("threads");
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, use, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    region_end();
    return 0;
}
