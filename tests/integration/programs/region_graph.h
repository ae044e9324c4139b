/* Shared by programs with graphs in a region: a kernel, and nodes of it. */
#ifndef REGION_GRAPH_H
#define REGION_GRAPH_H

#include "region.h"

static const char region_code[] = "\n.version 7.5\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry store(.param .u64 to, .param .u32 value)\n"
                                  "{\n"
                                  "  .reg .b32 %r<2>;\n  .reg .b64 %rd<3>;\n"
                                  "  ld.param.u64 %rd1, [to];\n"
                                  "  ld.param.u32 %r1, [value];\n"
                                  "  cvta.to.global.u64 %rd2, %rd1;\n"
                                  "  st.global.u32 [%rd2], %r1;\n"
                                  "  ret;\n}\n";

/* Node parameters that point at what they hold. */
struct store {
    CUdeviceptr to;
    unsigned value;
    void *parameters[2];
    CUDA_KERNEL_NODE_PARAMS node;
};

static inline CUfunction region_kernel(void)
{
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoadData(&module, region_code));
    CHECK(cuModuleGetFunction(&function, module, "store"));
    return function;
}

static inline const CUDA_KERNEL_NODE_PARAMS *region_store(struct store *store, CUfunction function,
                                                          CUdeviceptr to, unsigned value)
{
    *store = (struct store){to, value, {&store->to, &store->value}, {0}};
    store->node = (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = value % 32 + 1,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = store->parameters};
    return &store->node;
}

/* A kernel node, which the driver has copied when this returns. */
static inline CUgraphNode region_add_store(CUgraph graph, const CUgraphNode *after, CUfunction function,
                                           CUdeviceptr to, unsigned value)
{
    struct store store;
    CUgraphNode node;
    CHECK(
        cuGraphAddKernelNode(&node, graph, after, after != NULL, region_store(&store, function, to, value)));
    return node;
}

static inline CUDA_MEMSET_NODE_PARAMS region_set(CUdeviceptr to, unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = to, .value = value, .elementSize = 4, .width = 5, .height = 1};
}

static inline CUDA_MEMCPY3D region_copy(CUdeviceptr to, CUmemorytype type, CUdeviceptr from, size_t bytes)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = type,
                           .srcHost = (void *)from,
                           .srcDevice = from,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .WidthInBytes = bytes,
                           .Height = 1,
                           .Depth = 1};
}

static inline CUgraphExec region_instantiate(CUgraph graph)
{
    CUgraphExec executable;
    CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
}

#endif
