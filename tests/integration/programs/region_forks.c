/* region_forks FORKS: four threads use every kind of object while the process forks again and again. Each
 * child calls what takes the shim's locks; one that was copied as locked would keep the child for ever. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "region.h"

enum { THREADS = 4, BYTES = 4096, RESERVED = 2 << 20, SECONDS_OF_A_CHILD = 20 };

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .global .align 4 .u32 total;\n"
                          ".visible .entry nothing()\n{\nret;\n}\n";

static CUcontext context;
static CUdeviceptr memory, reserved;
static CUevent event;
static atomic_bool finished;

static void use_memory(CUstream stream)
{
    CUdeviceptr address;
    CHECK(cuMemAlloc(&address, BYTES));
    CHECK(cuMemFree(address));
    CHECK(cuMemAllocAsync(&address, BYTES, stream));
    CHECK(cuMemFreeAsync(address, stream));
    CHECK(cuMemAllocManaged(&address, BYTES, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemFree(address));
    CHECK(cuMemAddressReserve(&address, RESERVED, 0, 0, 0));
    CHECK(cuMemAddressFree(address, RESERVED));
}

static void use_module(CUstream stream)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr total;
    size_t bytes;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetGlobal(&total, &bytes, module, "total"));
    CHECK(cuModuleGetFunction(&function, module, "nothing"));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuModuleUnload(module));
}

static void use_graph(CUstream stream)
{
    const CUDA_MEMSET_NODE_PARAMS set = {.dst = memory, .elementSize = 4, .width = 1, .height = 1};
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, context));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static void use_event(CUstream stream)
{
    CUevent own;
    CHECK(cuEventCreate(&own, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(own, stream));
    CHECK(cuEventSynchronize(own));
    CHECK(cuEventDestroy(own));
}

static void *use_all(void *unused)
{
    (void)unused;
    CUstream stream;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    while (!atomic_load(&finished)) {
        use_memory(stream);
        use_event(stream);
        use_graph(stream);
        use_module(stream);
    }
    CHECK(cuStreamDestroy(stream));
    return NULL;
}

/* The driver refuses everything in the child of an initialised process; the shim must come that far. */
static int call_everything(void)
{
    union {
        void *address;
        int (*begin)(const char *);
        const char *(*error)(void);
    } function = {dlsym(RTLD_DEFAULT, "neutrino_region_begin")};
    unsigned int kind;
    alarm(SECONDS_OF_A_CHILD);
    cuEventDestroy(event);
    cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory);
    cuMemAddressFree(reserved, RESERVED);
    cuMemAlloc(&reserved, BYTES);
    if (function.begin("child") != -1)
        return 1;
    function.address = dlsym(RTLD_DEFAULT, "neutrino_region_error");
    return strstr(function.error(), "driver") != NULL ? 0 : 1;
}

int main(int argc, char **argv)
{
    const int forks = argc > 1 ? atoi(argv[1]) : 100;
    pthread_t threads[THREADS];
    int failed = 0;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&memory, BYTES));
    CHECK(cuMemAddressReserve(&reserved, RESERVED, 0, 0, 0));
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    region_begin("parent");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use_all, NULL);
    for (int i = 0; i < forks && failed == 0; i++) {
        int status = 1;
        const pid_t child = fork();
        if (child == 0)
            _exit(call_everything());
        waitpid(child, &status, 0);
        failed = status;
        usleep(500);
    }
    atomic_store(&finished, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    region_end();
    printf("failed %d\n", failed);
    return failed != 0;
}
