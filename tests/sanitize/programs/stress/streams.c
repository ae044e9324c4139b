/* Order within streams and between streams: by events, by the default streams, by values in memory. */
#include "stress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct buffers {
    CUdeviceptr device;
    uint32_t *host; /* pinned, so that copies are asynchronous */
};

static struct buffers allocate(void)
{
    struct buffers buffers;
    MUST(cuMemAlloc(&buffers.device, WORDS * sizeof(uint32_t)));
    MUST(cuMemAllocHost((void **)&buffers.host, WORDS * sizeof(uint32_t)));
    for (int i = 0; i < WORDS; i++)
        buffers.host[i] = 0;
    return buffers;
}

static void release(struct buffers buffers)
{
    MUST(cuMemFree(buffers.device));
    MUST(cuMemFreeHost(buffers.host));
}

static CUstream a_stream(struct worker *worker)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, below(worker, 2) ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    return stream;
}

/* Copies there and back with kernels in between. */
static void run_chain(struct worker *worker, CUstream stream, struct buffers buffers)
{
    const unsigned kernels = 1 + below(worker, 5);
    MUST(cuMemcpyHtoDAsync(buffers.device, buffers.host, WORDS * 4, stream));
    for (unsigned i = 0; i < kernels; i++)
        launch_add(worker, buffers.device, 3, stream);
    MUST(cuMemcpyDtoHAsync(buffers.host, buffers.device, WORDS * 4, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamQuery(stream));
    CHECK_WORDS(buffers.host, 3 * kernels);
}

void chain(struct worker *worker)
{
    const struct buffers buffers = allocate();
    CUstream stream = a_stream(worker);
    run_chain(worker, stream, buffers);
    MUST(cuStreamDestroy(stream));
    release(buffers);
}

void per_thread_default(struct worker *worker)
{
    const struct buffers buffers = allocate();
    run_chain(worker, CU_STREAM_PER_THREAD, buffers);
    release(buffers);
}

/* Work moves from stream to stream by events; queries of the last event fail until it is complete. */
void relay(struct worker *worker)
{
    enum { LEGS = 4 };
    const struct buffers buffers = allocate();
    CUstream streams[LEGS];
    CUevent events[LEGS], begin;
    float milliseconds = -1;
    MUST(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    for (int i = 0; i < LEGS; i++) {
        streams[i] = a_stream(worker);
        MUST(cuEventCreate(&events[i], below(worker, 2) ? CU_EVENT_DEFAULT : CU_EVENT_BLOCKING_SYNC));
    }
    MUST(cuEventRecord(begin, streams[0]));
    MUST(cuMemsetD32Async(buffers.device, 7, WORDS, streams[0]));
    for (int i = 0; i < LEGS; i++) {
        if (i > 0)
            MUST(cuStreamWaitEvent(streams[i], events[i - 1], 0));
        launch_add(worker, buffers.device, 1, streams[i]);
        MUST(cuEventRecord(events[i], streams[i]));
    }
    MUST(cuMemcpyDtoHAsync(buffers.host, buffers.device, WORDS * 4, streams[LEGS - 1]));
    CUresult result;
    while ((result = cuEventQuery(events[LEGS - 1])) == CUDA_ERROR_NOT_READY)
        sched_yield();
    MUST(result);
    MUST(cuEventElapsedTime(&milliseconds, begin, events[LEGS - 1]));
    CHECK(milliseconds >= 0);
    MUST(cuStreamSynchronize(streams[LEGS - 1]));
    CHECK_WORDS(buffers.host, 7 + LEGS);
    for (int i = 0; i < LEGS; i++) {
        MUST(cuEventDestroy(events[i]));
        MUST(cuStreamDestroy(streams[i]));
    }
    MUST(cuEventDestroy(begin));
    release(buffers);
}

/* A blocking stream and the legacy stream never overlap, even without an event between them. */
void legacy_orders(struct worker *worker)
{
    const struct buffers buffers = allocate();
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    MUST(cuMemsetD32Async(buffers.device, 1, WORDS, stream));
    launch_add(worker, buffers.device, 1, NULL);
    launch_add(worker, buffers.device, 1, stream);
    launch_add(worker, buffers.device, 1, CU_STREAM_LEGACY);
    MUST(cuMemcpyDtoHAsync(buffers.host, buffers.device, WORDS * 4, stream));
    MUST(cuStreamSynchronize(stream));
    CHECK_WORDS(buffers.host, 4);
    MUST(cuStreamDestroy(stream));
    release(buffers);
}

static void CUDA_CB count(void *data)
{
    atomic_fetch_add((_Atomic unsigned *)data, 1);
}

static void CUDA_CB count_callback(CUstream stream, CUresult status, void *data)
{
    CHECK(stream != NULL && status == CUDA_SUCCESS);
    count(data);
}

/* Not atomic: each call is ordered after the one before. */
static void CUDA_CB count_in_order(void *data)
{
    ++*(unsigned *)data;
}

void host_functions(struct worker *worker)
{
    _Atomic unsigned counted = 0;
    unsigned ordered = 0;
    CUstream stream = a_stream(worker);
    for (int i = 0; i < 5; i++) {
        MUST(cuLaunchHostFunc(stream, count, &counted));
        MUST(cuStreamAddCallback(stream, count_callback, &counted, 0));
        MUST(cuLaunchHostFunc(stream, count_in_order, &ordered));
    }
    MUST(cuStreamSynchronize(stream));
    CHECK(counted == 10 && ordered == 5);
    MUST(cuStreamDestroy(stream));
}

void pool(struct worker *worker)
{
    uint32_t host[WORDS];
    CUdeviceptr memory[3];
    CUstream stream = a_stream(worker);
    for (int i = 0; i < 3; i++) {
        MUST(cuMemAllocAsync(&memory[i], WORDS * 4, stream));
        MUST(cuMemsetD32Async(memory[i], (unsigned)i, WORDS, stream));
    }
    launch_add(worker, memory[1], 10, stream);
    MUST(cuMemFreeAsync(memory[0], stream));
    MUST(cuMemcpyDtoHAsync(host, memory[1], WORDS * 4, stream));
    MUST(cuMemFreeAsync(memory[1], stream));
    MUST(cuStreamSynchronize(stream));
    CHECK_WORDS(host, 11);
    MUST(cuMemFree(memory[2]));
    MUST(cuStreamDestroy(stream));
}

/* One stream waits for a word that another stream writes. The streams do not block: with blocking streams,
 * the legacy stream's work in between would wait for the first and hold up the second. */
void values(struct worker *worker)
{
    const struct buffers buffers = allocate();
    CUstream first, second;
    CUdeviceptr flag;
    MUST(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&flag, 8));
    MUST(cuMemsetD32(flag, 0, 2));
    MUST(cuStreamSynchronize(NULL));
    MUST(cuStreamWaitValue32(second, flag, 5, CU_STREAM_WAIT_VALUE_GEQ));
    MUST(cuMemcpyDtoHAsync(buffers.host, buffers.device, WORDS * 4, second));
    MUST(cuMemsetD32Async(buffers.device, 40, WORDS, first));
    launch_add(worker, buffers.device, 2, first);
    MUST(cuStreamWriteValue32(first, flag, 5, CU_STREAM_WRITE_VALUE_DEFAULT));
    MUST(cuStreamSynchronize(second));
    CHECK_WORDS(buffers.host, 42);
    MUST(cuStreamDestroy(second));
    MUST(cuStreamDestroy(first));
    MUST(cuMemFree(flag));
    release(buffers);
}

/* Copies of pageable memory, of rows, and between the memories of devices. */
void wide_copies(struct worker *worker)
{
    uint32_t host[WORDS] = {0};
    const struct buffers one = allocate(), other = allocate();
    CUstream stream = a_stream(worker);
    const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = one.device,
                                .srcPitch = 64,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = other.device,
                                .dstPitch = 64,
                                .WidthInBytes = 64,
                                .Height = WORDS / 16};
    for (int i = 0; i < WORDS; i++)
        host[i] = 9;
    MUST(cuMemcpyHtoDAsync(one.device, host, sizeof host, stream));
    for (int i = 0; i < WORDS; i++)
        host[i] = 0; /* pageable: already copied when the call returned */
    MUST(cuMemcpy2DAsync(&rows, stream));
    MUST(cuMemcpyDtoDAsync(one.device, other.device, sizeof host, stream));
    MUST(cuMemcpyDtoHAsync(host, one.device, sizeof host, stream));
    MUST(cuStreamSynchronize(stream));
    CHECK_WORDS(host, 9);
    MUST(cuStreamDestroy(stream));
    release(one);
    release(other);
}
