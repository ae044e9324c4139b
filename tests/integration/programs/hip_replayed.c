/* A region of HIP with every kind of operation: launches with parameters apart and packed, a kernel that adds
 * to its module's global, sets, copies, an upload, two streams with an event between them, a graph.
 *
 *     hip_replayed CODE     a file with the kernels saxpy and count */
#include "hip_region.h"

#include <stddef.h>

enum { N = 1024, BLOCK = 128 };

struct packed {
    float a;
    void *x, *y;
    unsigned n;
};

static void *read_code(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *code = calloc(1, 1 << 20);
    if (file == NULL || code == NULL || fread(code, 1, (1 << 20) - 1, file) == 0)
        exit(1);
    fclose(file);
    return code;
}

static hipGraphExec_t graph_of(hipFunction_t saxpy, float *x, float *y)
{
    hipGraph_t graph;
    hipGraphNode_t node;
    hipGraphExec_t exec;
    float a = 3;
    unsigned n = N;
    void *parameters[] = {&a, &x, &y, &n};
    const hipKernelNodeParams kernel = {.func = (void *)saxpy,
                                        .gridDim = {N / BLOCK, 1, 1},
                                        .blockDim = {BLOCK, 1, 1},
                                        .kernelParams = parameters};
    CHECK(hipGraphCreate(&graph, 0));
    CHECK(hipGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    return exec;
}

int main(int argc, char **argv)
{
    static float values[2][N];
    hipModule_t module;
    hipFunction_t saxpy, count;
    hipStream_t first, second;
    hipEvent_t done;
    if (argc != 2)
        return 1;
    for (int i = 0; i < N; i++) {
        values[0][i] = (float)i;
        values[1][i] = 1;
    }
    float *x = allocate("x", sizeof values[0]), *y = allocate("y", sizeof values[0]);
    float *z = allocate("z", sizeof values[0]);
    int *total = allocate("total", 4096);
    CHECK(hipMemset(total, 0, 4096));
    CHECK(hipMemcpy(x, values[0], sizeof values[0], hipMemcpyHostToDevice));
    CHECK(hipModuleLoadData(&module, read_code(argv[1])));
    CHECK(hipModuleGetFunction(&saxpy, module, "saxpy"));
    CHECK(hipModuleGetFunction(&count, module, "count"));
    CHECK(hipStreamCreate(&first));
    CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    CHECK(hipEventCreate(&done));
    const hipGraphExec_t graph = graph_of(saxpy, x, z);
    float a = 2;
    unsigned n = N, value = 5;
    void *parameters[] = {&a, &x, &y, &n}, *counted[] = {&total, &value};
    struct packed packed = {a, x, z, n};
    size_t bytes = offsetof(struct packed, n) + sizeof n;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};

    region_begin("everything");
    CHECK(hipMemcpyAsync(y, values[1], sizeof values[1], hipMemcpyHostToDevice, first));
    CHECK(hipModuleLaunchKernel(saxpy, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, first, parameters, NULL));
    CHECK(hipEventRecord(done, first));
    CHECK(hipStreamWaitEvent(second, done, 0));
    CHECK(hipMemsetD32Async(z, 0, N, second));
    CHECK(hipMemcpyAsync(z, y, sizeof values[1] / 2, hipMemcpyDeviceToDevice, second));
    CHECK(hipModuleLaunchKernel(saxpy, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, second, NULL, extra));
    CHECK(hipModuleLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, second, counted, NULL));
    CHECK(hipGraphLaunch(graph, second));
    CHECK(hipDeviceSynchronize());
    region_end();
    return 0;
}
