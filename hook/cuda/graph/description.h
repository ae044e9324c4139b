/* A copy of a graph with its nodes' parameters. An executable graph is launched long after its source is
 * destroyed. */
#ifndef NEUTRINO_CUDA_GRAPH_DESCRIPTION_H
#define NEUTRINO_CUDA_GRAPH_DESCRIPTION_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "cuda/capture/kernel.h"

enum nb_graph_item_kind {
    NB_GRAPH_REFUSED, /* see `reason` */
    NB_GRAPH_LAUNCH,
    NB_GRAPH_SET,
    NB_GRAPH_COPY,
    NB_GRAPH_EMPTY,
    NB_GRAPH_CHILD
};

struct nb_graph_launch_item {
    CUfunction function; /* or a CUkernel */
    CUcontext context;   /* NULL: the function's context */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    struct nb_capture_parameters parameters;
    CUlaunchAttribute *attributes;
    uint32_t attribute_count;
};

/* A node. */
struct nb_graph_item {
    CUgraphNode node; /* in the described graph; it may be destroyed */
    enum nb_graph_item_kind kind;
    bool is_disabled;
    const char *reason;
    union {
        struct nb_graph_launch_item launch;
        CUDA_MEMSET_NODE_PARAMS set;
        CUDA_MEMCPY3D copy;
        struct nb_graph_description *child;
    } as;
};

struct nb_graph_link {
    uint32_t from, to; /* indexes of items */
    CUgraphEdgeData data;
};

struct nb_graph_description {
    uint32_t item_count, link_count;
    struct nb_graph_item *items;
    struct nb_graph_link *links;
};

/* Returns NULL if the driver does not list the nodes, or if memory runs out. Inside a hook. */
struct nb_graph_description *nb_graph_describe(const struct nb_call *call, CUgraph graph)
    __attribute__((visibility("hidden")));
void nb_graph_description_free(struct nb_graph_description *description)
    __attribute__((visibility("hidden")));

/* Find the item of a node, in this graph or in a graph that it contains; NULL if not found. */
struct nb_graph_item *nb_graph_find(struct nb_graph_description *description, CUgraphNode node)
    __attribute__((visibility("hidden")));

/* Replace a kernel node's parameters; its attributes stay. */
void nb_graph_set_kernel(const struct nb_call *call, struct nb_graph_item *item,
                         const CUDA_KERNEL_NODE_PARAMS *parameters) __attribute__((visibility("hidden")));

/* Replace the graph that a node contains. */
void nb_graph_set_child(const struct nb_call *call, struct nb_graph_item *item, CUgraph child)
    __attribute__((visibility("hidden")));

#endif
