/* policy_rules STEP...: takes the steps, and prints "STEP <returned>" for each.
 *
 *     allocate:N   N bytes        launch:NAME   a kernel   load   the image again   table   cuGetExportTable
 *     context      makes a context and makes it current   fork   takes the other steps in a child
 *     timing       a timing event on the stream           loadfile:PATH
 *     graph:NAME   launches a graph of one kernel         swap:NAME      the same, whose kernel was `nothing`
 * before child:NAME   the same, with the kernel in a child graph that replaced another */
#include <cuda.h>
#include <cudaProfiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* HIP's driver functions for this program (hook/hip/driver) lack these. */
#pragma weak cuProfilerStart
#pragma weak cuCtxCreate_v2
#pragma weak cuCtxCreate_v4

static const char ptx[] =
    "\n.version 7.5\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n"
    ".visible .entry something()\n{\n  ret;\n}\n";

static CUmodule module;
static CUstream stream;

static CUresult launch(const char *name)
{
    CUfunction function;
    const CUresult result = cuModuleGetFunction(&function, module, name);
    return result != CUDA_SUCCESS ? result
                                  : cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static CUDA_KERNEL_NODE_PARAMS node_of(const char *name)
{
    CUDA_KERNEL_NODE_PARAMS node = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    cuModuleGetFunction(&node.func, module, name);
    return node;
}

static CUgraph graph_of(const char *name, CUgraphNode *node)
{
    CUgraph graph = NULL;
    const CUDA_KERNEL_NODE_PARAMS kernel = node_of(name);
    cuGraphCreate(&graph, 0);
    cuGraphAddKernelNode(node, graph, NULL, 0, &kernel);
    return graph;
}

static CUresult launch_graph(const char *first, const char *name)
{
    CUgraphNode node;
    CUgraphExec executable;
    const CUDA_KERNEL_NODE_PARAMS kernel = node_of(name);
    CUresult result = cuGraphInstantiateWithFlags(&executable, graph_of(first, &node), 0);
    if (result == CUDA_SUCCESS && strcmp(first, name) != 0)
        result = cuGraphExecKernelNodeSetParams(executable, node, &kernel);
    return result != CUDA_SUCCESS ? result : cuGraphLaunch(executable, stream);
}

static CUresult launch_child(const char *name)
{
    CUgraph graph = NULL;
    CUgraphNode inner, child;
    CUgraphExec executable;
    cuGraphCreate(&graph, 0);
    cuGraphAddChildGraphNode(&child, graph, NULL, 0, graph_of("nothing", &inner));
    CUresult result = cuGraphInstantiateWithFlags(&executable, graph, 0);
    if (result == CUDA_SUCCESS)
        result = cuGraphExecChildGraphNodeSetParams(executable, child, graph_of(name, &inner));
    return result != CUDA_SUCCESS ? result : cuGraphLaunch(executable, stream);
}

static CUresult make_context(void)
{
    CUcontext made;
#if CUDA_VERSION >= 13000
    return cuCtxCreate(&made, NULL, 0, 0);
#else
    return cuCtxCreate(&made, 0, 0);
#endif
}

static CUresult record_event(void)
{
    CUevent event;
    const CUresult result = cuEventCreate(&event, CU_EVENT_DEFAULT);
    return result != CUDA_SUCCESS ? result : cuEventRecord(event, stream);
}

static CUresult take(const char *step)
{
    CUdeviceptr address;
    const char *colon = strchr(step, ':');
    if (strncmp(step, "allocate:", 9) == 0)
        return cuMemAlloc(&address, strtoull(colon + 1, NULL, 10));
    if (strncmp(step, "launch:", 7) == 0)
        return launch(colon + 1);
    if (strncmp(step, "graph:", 6) == 0)
        return launch_graph(colon + 1, colon + 1);
    if (strncmp(step, "swap:", 5) == 0)
        return launch_graph("nothing", colon + 1);
    if (strncmp(step, "child:", 6) == 0)
        return launch_child(colon + 1);
    if (strncmp(step, "loadfile:", 9) == 0)
        return cuModuleLoad(&module, colon + 1);
    if (strcmp(step, "load") == 0)
        return cuModuleLoadData(&module, ptx);
    if (strcmp(step, "context") == 0)
        return make_context();
    if (strcmp(step, "timing") == 0)
        return record_event();
    if (strcmp(step, "profiler") == 0)
        return cuProfilerStart();
    return CUDA_ERROR_UNKNOWN;
}

int main(int count, char **words)
{
    CUcontext context;
    if (count > 1 && strcmp(words[1], "first") != 0) {
        if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
            cuCtxSetCurrent(context) != CUDA_SUCCESS)
            return 1;
    }
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "first") == 0)
            continue;
        if (strcmp(words[i], "fork") == 0) {
            const pid_t child = fork();
            if (child != 0) {
                waitpid(child, NULL, 0);
                continue;
            }
            printf("fork %d\n", (int)take("profiler"));
            _exit(0);
        }
        printf("%s %d\n", words[i], (int)take(words[i]));
    }
    cuCtxSynchronize();
    return 0;
}
