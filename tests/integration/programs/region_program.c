/* region_program WHAT: a program whose region goes wrong, or comes from more than one thread or process. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scale.h"
#undef CHECK /* region.h's says the line */
#include "region.h"

static CUcontext context;
static CUfunction function;
static CUdeviceptr memory;
static float factor = 2;
static unsigned int count = 1000;

static void prepare(void)
{
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, scale_ptx));
    CHECK(cuModuleGetFunction(&function, module, "scale"));
    CHECK(cuMemAlloc(&memory, 4096));
    CHECK(cuMemsetD32(memory, 0x3f800000, 1024));
}

static void launch(int times)
{
    void *parameters[] = {&memory, &factor, &count};
    for (int i = 0; i < times; i++)
        CHECK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL));
}

static void *launch_ten(void *unused)
{
    (void)unused;
    CHECK(cuCtxSetCurrent(context));
    launch(10);
    return NULL;
}

static void launch_in_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, launch_ten, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* A pair of timing events around each launch, as benchmarks do it. */
static void time_launches(int times)
{
    CUevent begin, end;
    CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    for (int i = 0; i < times; i++) {
        CHECK(cuMemsetD32Async(memory, 0x3f800000, 1024, NULL)); /* between the pairs */
        CHECK(cuEventRecord(begin, NULL));
        launch(i + 1);
        CHECK(cuEventRecord(end, NULL));
        CHECK(cuEventSynchronize(end));
    }
}

/* The child is a process without a context; the parent's region is not its own. */
static void launch_across_fork(void)
{
    launch(1);
    const pid_t child = fork();
    int status = 1;
    if (child == 0)
        exit(0);
    waitpid(child, &status, 0);
    if (status != 0)
        exit(1);
    launch(2);
}

/* 1 MiB of host data a step, until far more than a file may have has been recorded. */
static void fill_the_disk(void)
{
    enum { BYTES = 1 << 20, STEPS = 8 };
    static unsigned char host[BYTES];
    CUdeviceptr target;
    unsigned char back = 0;
    CHECK(cuMemAlloc(&target, BYTES));
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){2 * BYTES, RLIM_INFINITY});
    region_begin("large");
    for (int i = 0; i < STEPS; i++) {
        memset(host, i, BYTES);
        CHECK(cuMemcpyHtoD(target, host, BYTES));
    }
    CHECK(cuMemcpyDtoH(&back, target + BYTES - 1, 1));
    puts(back == STEPS - 1 ? "right" : "wrong");
    fflush(stdout);
    region_end();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    prepare();
    if (strcmp(what, "threads") == 0)
        launch_in_threads();
    else if (strcmp(what, "timed") == 0)
        time_launches(4);
    else if (strcmp(what, "disk") == 0)
        fill_the_disk();
    else if (strcmp(what, "twice") == 0)
        for (int i = 0; i < 2; i++) {
            region_begin("twice");
            launch(i + 1);
            region_end();
        }
    else if (strcmp(what, "once") == 0)
        launch(1);
    else {
        region_begin(what);
        if (strcmp(what, "killed") == 0) {
            launch(3);
            raise(SIGKILL);
        } else if (strcmp(what, "fork") == 0)
            launch_across_fork();
        else if (strcmp(what, "reads") == 0) {
            unsigned int word;
            launch(1);
            for (int i = 0; i < 257; i++) /* one more than a capture keeps */
                CHECK(cuMemcpyDtoH(&word, memory, sizeof word));
            launch(2);
        } else if (strcmp(what, "fails") == 0)
            exit(3);
        region_end();
    }
    puts("done");
    return 0;
}
