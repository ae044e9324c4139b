/* Objects destroyed while work is queued on them, and objects that other threads destroy meanwhile. */
#include "shared.h"

#include <stdlib.h>

void make_shared(struct shared *shared)
{
    atomic_init(&shared->counted, 0);
    pthread_rwlock_init(&shared->lock, NULL);
    pthread_rwlock_init(&shared->captures, NULL);
    for (int i = 0; i < SLOTS; i++) {
        MUST(cuStreamCreate(&shared->streams[i], i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
        MUST(cuEventCreate(&shared->events[i], CU_EVENT_DEFAULT));
    }
}

void end_shared(struct shared *shared)
{
    for (int i = 0; i < SLOTS; i++) {
        MUST(cuStreamDestroy(shared->streams[i]));
        MUST(cuEventDestroy(shared->events[i]));
    }
    MUST(cuCtxSynchronize()); /* destroyed streams may still have work */
}

void closes_queued(struct worker *worker)
{
    uint32_t host[WORDS];
    CUdeviceptr words;
    CUstream stream;
    CUevent event;
    MUST(cuMemAlloc(&words, WORDS * 4));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemsetD32Async(words, 1, WORDS, stream));
    for (int i = 0; i < 4; i++)
        launch_add(worker, words, 1, stream);
    MUST(cuEventRecord(event, stream));
    MUST(cuStreamDestroy(stream));
    if (below(worker, 2))
        MUST(cuEventSynchronize(event));
    else
        synchronize(worker);
    MUST(cuEventDestroy(event));
    MUST(cuMemcpyDtoH(host, words, sizeof host));
    CHECK_WORDS(host, 5);
    MUST(cuMemFree(words));
}

void unloads_queued(struct worker *worker)
{
    struct worker mine = *worker;
    CUdeviceptr words, total;
    CUstream stream;
    uint32_t host[WORDS], counted;
    size_t bytes;
    MUST(cuModuleLoadData(&mine.module, module_text));
    MUST(cuModuleGetFunction(&mine.add, mine.module, "add"));
    MUST(cuModuleGetGlobal(&total, &bytes, mine.module, "total"));
    CHECK(bytes == 4);
    MUST(cuMemAlloc(&words, WORDS * 4));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemsetD32Async(words, 0, WORDS, stream));
    launch_add(&mine, words, 8, stream);
    MUST(cuMemcpyDtoHAsync(&counted, total, 4, stream));
    MUST(cuStreamSynchronize(stream));
    CHECK(counted == WORDS);
    launch_add(&mine, words, 8, stream);
    MUST(cuModuleUnload(mine.module));
    MUST(cuMemcpyDtoHAsync(host, words, sizeof host, stream));
    MUST(cuStreamSynchronize(stream));
    CHECK_WORDS(host, 16);
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(words));
}

/* A context of the thread's own, destroyed with queued work. */
void own_context(struct worker *worker)
{
    struct worker mine = *worker;
    CUcontext context, popped;
    CUdeviceptr words;
    CUstream stream;
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    MUST(cuModuleLoadData(&mine.module, module_text));
    MUST(cuModuleGetFunction(&mine.add, mine.module, "add"));
    MUST(cuMemAlloc(&words, WORDS * 4));
    MUST(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    for (int i = 0; i < 3; i++)
        launch_add(&mine, words, 8, below(worker, 2) ? stream : NULL);
    if (below(worker, 2)) {
        MUST(cuCtxPopCurrent(&popped));
        CHECK(popped == context);
    }
    MUST(cuCtxDestroy(context));
    MUST(cuCtxSetCurrent(worker->shared->context));
}

/* A fault ends the queued work of its context, and no work of other contexts. */
void fault(struct worker *worker)
{
    struct worker mine = *worker;
    CUcontext context;
    CUdeviceptr words, nowhere = 256;
    CUstream stream;
    uint32_t number = WORDS, value = 1;
    void *arguments[] = {&nowhere, &number, &value};
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    MUST(cuModuleLoadData(&mine.module, module_text));
    MUST(cuModuleGetFunction(&mine.add, mine.module, "add"));
    MUST(cuMemAlloc(&words, WORDS * 4));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 8; i++)
        launch_add(&mine, words, 8, NULL);
    MUST(cuLaunchKernel(mine.add, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
    CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(cuMemsetD32Async(words, 0, WORDS, stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    (void)cuCtxDestroy(context);
    MUST(cuCtxSetCurrent(worker->shared->context));
}

static void CUDA_CB count(void *data)
{
    atomic_fetch_add((_Atomic unsigned *)data, 1);
}

/* The kernels write no shared memory: the order in which they run is not determined. */
void shared_streams(struct worker *worker)
{
    struct shared *shared = worker->shared;
    const unsigned slot = below(worker, SLOTS);
    CUdeviceptr words = 0;
    uint32_t none = 0, value = 1;
    void *arguments[] = {&words, &none, &value};
    pthread_rwlock_rdlock(&shared->lock);
    CUstream stream = shared->streams[slot];
    const CUresult result = cuStreamQuery(stream);
    CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY);
    MUST(cuLaunchHostFunc(stream, count, &shared->counted));
    MUST(cuLaunchKernel(worker->add, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
    if (below(worker, 2))
        MUST(cuStreamSynchronize(stream));
    pthread_rwlock_unlock(&shared->lock);
    if (below(worker, 4) != 0)
        return;
    pthread_rwlock_wrlock(&shared->lock);
    MUST(cuStreamDestroy(shared->streams[slot]));
    MUST(cuStreamCreate(&shared->streams[slot], CU_STREAM_DEFAULT));
    pthread_rwlock_unlock(&shared->lock);
}

void shared_events(struct worker *worker)
{
    struct shared *shared = worker->shared;
    const unsigned slot = below(worker, SLOTS), other = below(worker, SLOTS);
    float milliseconds;
    pthread_rwlock_rdlock(&shared->lock);
    MUST(cuEventRecord(shared->events[slot], shared->streams[below(worker, SLOTS)]));
    MUST(cuStreamWaitEvent(shared->streams[below(worker, SLOTS)], shared->events[other], 0));
    CUresult result = cuEventQuery(shared->events[other]);
    CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY);
    result = cuEventElapsedTime(&milliseconds, shared->events[slot], shared->events[other]);
    CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY || result == CUDA_ERROR_INVALID_HANDLE);
    if (below(worker, 2))
        MUST(cuEventSynchronize(shared->events[slot]));
    pthread_rwlock_unlock(&shared->lock);
    if (below(worker, 4) != 0)
        return;
    pthread_rwlock_wrlock(&shared->lock);
    MUST(cuEventDestroy(shared->events[slot]));
    MUST(cuEventCreate(&shared->events[slot], CU_EVENT_DEFAULT));
    pthread_rwlock_unlock(&shared->lock);
}

/* Queries, while other threads change everything. */
void asks(struct worker *worker)
{
    size_t available, total, size;
    CUdeviceptr base, words;
    CUcontext context;
    unsigned long long id;
    int number, least, greatest;
    CUmemorytype type;
    MUST(cuMemGetInfo(&available, &total));
    CHECK(available <= total);
    MUST(cuMemAlloc(&words, 1 + below(worker, 100000)));
    MUST(cuMemGetAddressRange(&base, &size, words + 0));
    CHECK(base == words);
    MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, words));
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    MUST(cuMemFree(words));
    MUST(cuCtxGetCurrent(&context));
    CHECK(context == worker->shared->context);
    MUST(cuCtxGetId(context, &id));
    MUST(cuCtxGetStreamPriorityRange(&least, &greatest));
    MUST(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, worker->add));
    MUST(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, worker->add, 128, 0));
    CHECK(number > 0);
    if (below(worker, 8) == 0)
        synchronize(worker);
}
