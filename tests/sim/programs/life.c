/* Tests the driver across fork and exit: life MODE. Prints its observations. */
#include <cuda.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry spin()\n{\nagain:\n    bra again;\n}\n";

static void must(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        printf("unexpected %d\n", (int)result);
        exit(1);
    }
}

static CUcontext start(void)
{
    CUcontext context;
    must(cuInit(0));
    must(cuDevicePrimaryCtxRetain(&context, 0));
    must(cuCtxSetCurrent(context));
    return context;
}

static void spin(void)
{
    CUmodule module;
    CUfunction function;
    CUstream stream;
    must(cuModuleLoadData(&module, ptx));
    must(cuModuleGetFunction(&function, module, "spin"));
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    must(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

static void fork_after_init(void)
{
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    CUgraph graph;
    int count;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUcontext current = start();
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    must(cuEventCreate(&event, 0));
    must(cuMemAlloc(&memory, 64));
    must(cuMemsetD8(memory, 1, 64));
    const pid_t child = fork();
    if (child == 0) {
        CUcontext context;
        const CUresult results[] = {cuInit(0),
                                    cuDeviceGetCount(&count),
                                    cuMemAlloc(&memory, 4),
                                    cuCtxSynchronize(),
                                    cuCtxGetCurrent(&context),
                                    cuCtxSetCurrent(current),
                                    cuCtxDestroy(current),
                                    cuMemFree(memory),
                                    cuDevicePrimaryCtxRetain(&context, 0),
                                    cuDevicePrimaryCtxReset(0),
                                    cuStreamQuery(stream),
                                    cuStreamSynchronize(stream),
                                    cuStreamWaitEvent(stream, event, 0),
                                    cuStreamBeginCapture(stream, mode),
                                    cuStreamEndCapture(stream, &graph),
                                    cuStreamDestroy(stream),
                                    cuEventQuery(event),
                                    cuEventRecord(event, stream),
                                    cuEventDestroy(event),
                                    cuThreadExchangeStreamCaptureMode(&mode),
                                    cuGraphCreate(&graph, 0)};
        int all = 1;
        for (size_t i = 0; i < sizeof results / sizeof *results; i++)
            all = all && results[i] == CUDA_ERROR_NOT_INITIALIZED;
        exit(all ? 42 : 1); /* through exit handlers */
    }
    int status;
    waitpid(child, &status, 0);
    must(cuCtxSynchronize()); /* the parent goes on */
    printf("child %d\n", WEXITSTATUS(status));
}

static void fork_before_init(void)
{
    const pid_t child = fork();
    if (child == 0) {
        CUdeviceptr memory;
        start();
        exit(cuMemAlloc(&memory, 4) == CUDA_SUCCESS ? 42 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    start();
    printf("child %d\n", WEXITSTATUS(status));
}

static void time_out(void)
{
    start();
    spin();
    printf("%d\n", (int)cuCtxSynchronize());
}

static void *allocate_and_free(void *context)
{
    must(cuCtxSetCurrent(context));
    for (int i = 0; i < 300; i++) {
        CUdeviceptr memory;
        CUstream stream;
        CUevent event;
        unsigned word = 0;
        must(cuMemAlloc(&memory, 4096));
        must(cuStreamCreate(&stream, (unsigned)i & 1u));
        must(cuEventCreate(&event, 0));
        must(cuMemsetD32Async(memory, (unsigned)i, 1024, stream));
        must(cuEventRecord(event, stream));
        must(cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0));
        must(cuMemcpyDtoHAsync(&word, memory, 4, CU_STREAM_PER_THREAD));
        must(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        must(cuEventDestroy(event));
        must(cuStreamDestroy(stream));
        must(cuMemFree(memory));
        if (word != (unsigned)i)
            must(CUDA_ERROR_UNKNOWN);
    }
    return NULL;
}

static void threads(void)
{
    CUcontext context = start();
    pthread_t workers[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&workers[i], NULL, allocate_and_free, context);
    for (int i = 0; i < 4; i++)
        pthread_join(workers[i], NULL);
    must(cuDevicePrimaryCtxReset(0));
    printf("done\n");
}

static CUevent shared;

static void nothing(void *data)
{
    (void)data;
}

/* Ignores results: captures of other threads may refuse any of these calls. */
static void *capture_and_disturb(void *context)
{
    CUstream main;
    CUstream side;
    CUevent event;
    must(cuCtxSetCurrent(context));
    must(cuStreamCreate(&main, CU_STREAM_NON_BLOCKING));
    must(cuStreamCreate(&side, CU_STREAM_DEFAULT));
    must(cuEventCreate(&event, 0));
    for (int i = 0; i < 200; i++) {
        CUgraph graph = NULL;
        CUdeviceptr memory;
        CUstreamCaptureStatus status;
        (void)cuStreamBeginCapture(main, (CUstreamCaptureMode)(i % 3));
        (void)cuEventRecord(event, main);
        (void)cuStreamWaitEvent(side, event, 0);
        (void)cuLaunchHostFunc(side, nothing, NULL);
        (void)cuEventRecord(event, side);
        (void)cuStreamWaitEvent(main, event, 0);
        (void)cuEventRecord(shared, main);
        (void)cuStreamWaitEvent(side, shared, 0);
        if (i % 7 == 0)
            (void)cuCtxSynchronize();
        if (i % 5 == 0 && cuMemAlloc(&memory, 64) == CUDA_SUCCESS)
            (void)cuMemFree(memory);
        (void)cuStreamIsCapturing(main, &status);
        (void)cuStreamIsCapturing(CU_STREAM_LEGACY, &status);
        if (cuStreamEndCapture(main, &graph) == CUDA_SUCCESS)
            (void)cuGraphDestroy(graph);
        (void)cuEventRecord(shared, main);
        (void)cuEventQuery(shared);
        (void)cuCtxRecordEvent(context, event);
        (void)cuCtxWaitEvent(context, event);
        (void)cuStreamQuery(side);
        if (i % 11 == 0) {
            must(cuStreamDestroy(side));
            must(cuStreamCreate(&side, CU_STREAM_DEFAULT));
        }
    }
    return NULL;
}

static void captures(void)
{
    CUcontext context = start();
    pthread_t workers[4];
    must(cuEventCreate(&shared, 0));
    for (int i = 0; i < 4; i++)
        pthread_create(&workers[i], NULL, capture_and_disturb, context);
    for (int i = 0; i < 4; i++)
        pthread_join(workers[i], NULL);
    must(cuDevicePrimaryCtxReset(0));
    printf("done\n");
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "";
    if (strcmp(mode, "fork-after") == 0)
        fork_after_init();
    else if (strcmp(mode, "fork-before") == 0)
        fork_before_init();
    else if (strcmp(mode, "time-out") == 0)
        time_out();
    else if (strcmp(mode, "threads") == 0)
        threads();
    else if (strcmp(mode, "captures") == 0)
        captures();
    else {
        start();
        spin(); /* still running when main returns */
        printf("leaving\n");
    }
    return 0;
}
