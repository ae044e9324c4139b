/* A program as hipcc makes it: its kernel is known by a stub, its global by the host's address. */
#include "hip_region.h"

extern const void *const store;
extern char counter[];

int main(void)
{
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphNode_t node;
    hipGraphExec_t exec;
    const unsigned int seven = 9, eight = 10, ten = 11;
    unsigned int value = 5;
    char *to = allocate("to", 4096);
    void *parameters[] = {&to, &value}, *address;
    CHECK(hipGetSymbolAddress(&address, counter));
    say("counter", address);
    CHECK(hipStreamCreate(&stream));
    CHECK(hipGraphCreate(&graph, 0));
    CHECK(hipGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, counter, &ten, sizeof ten, 0,
                                        hipMemcpyHostToDevice));
    CHECK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, node, counter, &ten, sizeof ten, 0,
                                                  hipMemcpyHostToDevice));
    region_begin("symbols");
    CHECK(hipMemcpyToSymbol(counter, &seven, sizeof seven, 0, hipMemcpyHostToDevice));
    CHECK(hipMemcpyToSymbolAsync(counter, &eight, sizeof eight, 0, hipMemcpyHostToDevice, stream));
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipLaunchKernel((const void *)&store, (dim3){1, 1, 1}, (dim3){1, 1, 1}, parameters, 0, stream));
    CHECK(hipMemcpyFromSymbol(to + 64, counter, sizeof value, 0, hipMemcpyDeviceToDevice));
    CHECK(hipMemcpyFromSymbolAsync(to + 128, counter, sizeof value, 0, hipMemcpyDeviceToDevice, stream));
    CHECK(hipGraphLaunch(exec, stream));
    region_end();
    CHECK(hipStreamSynchronize(stream));
    return 0;
}
