/* honest: the control of mistakes.c. It frees what it allocates, polls an event, and frees in another thread.
 */
#include "scale.h"

#include <pthread.h>

enum { ROUNDS = 200 };

static CUcontext context;

static void *free_all(void *blocks)
{
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++)
        CHECK(cuMemFree(((CUdeviceptr *)blocks)[i]));
    return NULL;
}

int main(void)
{
    const struct driver driver = SCALE_LINKED;
    static CUdeviceptr blocks[ROUNDS];
    CUdeviceptr lazy, managed, again;
    CUstream stream;
    CUevent event;
    pthread_t thread;
    void *pinned;
    scale_start(&driver);
    CHECK(cuCtxGetCurrent(&context));
    scale_run(&driver, 3);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemHostAlloc(&pinned, 4096, 0));
    CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemAllocAsync(&lazy, 4096, stream));
    for (int i = 0; i < ROUNDS; i++)
        CHECK(cuMemAlloc(&blocks[i], 64 + (size_t)i));
    pthread_create(&thread, NULL, free_all, blocks);
    pthread_join(thread, NULL);
    for (int i = 0; i < ROUNDS; i++) { /* the driver gives the same address again and again */
        CHECK(cuMemAlloc(&again, 64));
        CHECK(cuMemFree(again));
    }
    CHECK(cuMemFree(0));
    CHECK(cuMemFreeAsync(lazy, stream));
    CHECK(cuEventRecord(event, stream));
    while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
        ;
    CHECK(cuMemFree(managed));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuStreamDestroy(stream));
    return 0;
}
