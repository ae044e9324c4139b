/* Graphs in graphs: two nodes side by side in one, between nodes of the other; one in one; an empty one. */
#include "region_graph.h"

int main(void)
{
    CUgraph graph, child, grandchild, nothing;
    CUgraphNode node, deep, hollow;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    const CUfunction function = region_kernel();
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphCreate(&child, 0));
    CHECK(cuGraphCreate(&grandchild, 0));
    CHECK(cuGraphCreate(&nothing, 0));
    region_add_store(grandchild, NULL, function, memory, 3);
    region_add_store(child, NULL, function, memory, 2);
    CHECK(cuGraphAddChildGraphNode(&deep, child, NULL, 0, grandchild));
    const CUgraphNode first = region_add_store(graph, NULL, function, memory, 1);
    CHECK(cuGraphAddChildGraphNode(&node, graph, &first, 1, child));
    CHECK(cuGraphAddChildGraphNode(&hollow, graph, &node, 1, nothing));
    region_add_store(graph, &hollow, function, memory, 4);
    const CUgraphExec executable = region_instantiate(graph);
    region_begin("children");
    CHECK(cuGraphLaunch(executable, NULL));
    region_end();
    return 0;
}
