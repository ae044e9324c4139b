/* gpu_times MODE: launches whose GPU times the audit log must have, or must not have.
 *
 * forms     every kind of launch, each between two events of the program. Prints the times of its events, in
 *           nanoseconds, in the order of the launches.
 * capture   a launch, a launch that stream capture takes (in global mode), two launches of the graph. Prints
 *           the graph's nodes.
 * contexts  two contexts, one after the other, with three launches each.
 * threads   two threads: one launches on the legacy stream, the other on its default stream.
 * queued N  N launches while the stream is held, then one more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const CUresult check_result = (call);                                                                \
        if (check_result != CUDA_SUCCESS) {                                                                  \
            fprintf(stderr, "%s: %d\n", #call, (int)check_result);                                           \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static const char ptx[] = "\n.version 7.5\n.target sm_75\n.address_size 64\n"
                          ".visible .entry spin(.param .u32 turns)\n"
                          "{\n"
                          "  .reg .pred %p<2>;\n  .reg .b32 %r<3>;\n"
                          "  ld.param.u32 %r1, [turns];\n"
                          "again:\n"
                          "  sub.s32 %r1, %r1, 1;\n"
                          "  setp.gt.s32 %p1, %r1, 0;\n"
                          "  @%p1 bra again;\n"
                          "  ret;\n}\n";

enum { TURNS = 20000 };

CUresult cuLaunchKernel_ptsz(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                             unsigned int, unsigned int, CUstream, void **, void **);

static CUfunction load(void)
{
    CUmodule module;
    CUfunction spin;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&spin, module, "spin"));
    return spin;
}

static void launch(CUfunction spin, CUstream stream, unsigned turns)
{
    void *parameters[] = {&turns};
    CHECK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

static void launch_ex(CUfunction spin, CUstream stream, unsigned turns)
{
    void *parameters[] = {&turns};
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream};
    CHECK(cuLaunchKernelEx(&config, spin, parameters, NULL));
}

static void launch_cooperative(CUfunction spin, CUstream stream, unsigned turns)
{
    void *parameters[] = {&turns};
    CHECK(cuLaunchCooperativeKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters));
}

static void show_forms(CUfunction spin)
{
    static void (*const forms[])(CUfunction, CUstream, unsigned) = {launch, launch_ex, launch_cooperative};
    CUstream stream;
    CUevent begin, end;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    for (unsigned i = 0; i < 12; i++) {
        float milliseconds;
        const CUstream used = i % 2 != 0 ? stream : NULL;
        CHECK(cuEventRecord(begin, used));
        forms[i % 3](spin, used, TURNS * (1 + i % 4));
        CHECK(cuEventRecord(end, used));
        CHECK(cuEventSynchronize(end));
        CHECK(cuEventElapsedTime(&milliseconds, begin, end));
        printf("%.0f\n", (double)milliseconds * 1e6);
    }
}

static void show_capture(CUfunction spin)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    size_t nodes = 0;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    launch(spin, stream, TURNS);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(spin, stream, TURNS);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetNodes(graph, NULL, &nodes));
    CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    printf("%zu\n", nodes);
}

static void use_contexts(void)
{
    for (int i = 0; i < 2; i++) {
        CUcontext context;
#if CUDA_VERSION >= 13000
        CHECK(cuCtxCreate(&context, NULL, 0, 0));
#else
        CHECK(cuCtxCreate(&context, 0, 0));
#endif
        const CUfunction spin = load();
        for (int j = 0; j < 3; j++)
            launch(spin, NULL, TURNS);
        CHECK(cuCtxSynchronize());
        CHECK(cuCtxDestroy(context));
    }
}

enum { LAUNCHES = 300 };
static CUcontext shared;
static CUfunction shared_spin;

static void *run_on_own_stream(void *unused)
{
    unsigned turns = 100;
    void *parameters[] = {&turns};
    (void)unused;
    CHECK(cuCtxSetCurrent(shared));
    for (int i = 0; i < LAUNCHES; i++)
        CHECK(cuLaunchKernel_ptsz(shared_spin, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    return NULL;
}

static void use_threads(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_on_own_stream, NULL) != 0)
        exit(1);
    for (int i = 0; i < LAUNCHES; i++)
        launch(shared_spin, NULL, 100);
    pthread_join(thread, NULL);
    CHECK(cuCtxSynchronize());
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void wait_for_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
}

static void queue(CUfunction spin, int count)
{
    pthread_mutex_lock(&held);
    CHECK(cuLaunchHostFunc(NULL, wait_for_main, NULL));
    for (int i = 0; i < count; i++)
        launch(spin, NULL, 1);
    pthread_mutex_unlock(&held);
    CHECK(cuCtxSynchronize());
    launch(spin, NULL, 1);
    CHECK(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    CHECK(cuInit(0));
    if (strcmp(mode, "contexts") == 0) {
        use_contexts();
        return 0;
    }
    CHECK(cuDevicePrimaryCtxRetain(&shared, 0));
    CHECK(cuCtxSetCurrent(shared));
    shared_spin = load();
    if (strcmp(mode, "forms") == 0)
        show_forms(shared_spin);
    else if (strcmp(mode, "capture") == 0)
        show_capture(shared_spin);
    else if (strcmp(mode, "threads") == 0)
        use_threads();
    else if (strcmp(mode, "queued") == 0)
        queue(shared_spin, argc > 2 ? atoi(argv[2]) : 0);
    else
        return 2;
    return 0;
}
