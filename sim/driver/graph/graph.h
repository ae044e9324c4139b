/* Graphs and their nodes. What an executable graph runs is a clone of its graph: see graph_plan.h. */
#ifndef NEUTRINO_SIM_GRAPH_H
#define NEUTRINO_SIM_GRAPH_H

#include "driver/core/api.h"
#include "driver/core/object.h"
#include "driver/stream/work.h"

struct sim_graph_attributes;
struct sim_graph_handle;
struct sim_user_reference;

/* What of the earlier node a dependency waits for, as CUgraphEdgeData has it (which headers before 12.3
 * lack). Nodes here always wait for all of it, as the API allows; the data is kept to be asked for. */
struct sim_graph_edge {
    unsigned char from_port;
    unsigned char type;
};

struct sim_graph_node {
    struct sim_object object; /* lives and dies with its graph */
    struct sim_graph *graph;
    struct sim_context *context; /* where it was made: a handle, and to be compared */
    struct sim_work work;
    unsigned id;         /* in its graph; never given again */
    unsigned origin;     /* in a clone: the original's `id` */
    bool cloned;         /* else it was added later */
    size_t position;     /* in the graph's `nodes` */
    bool disabled;       /* in a plan */
    void **arguments;    /* of a kernel node: pointers into its parameters, for GetParams; owned */
    CUDA_MEMCPY3D *copy; /* of a memcpy node: the parameters as they were given; NULL: captured; owned */
    struct sim_graph_attributes *attributes; /* of a kernel node; NULL: all as by default; owned */
    struct sim_graph_node **dependencies;
    struct sim_graph_edge *edges; /* one a dependency */
    size_t dependency_count;
};

struct sim_graph {
    struct sim_object object;
    unsigned id;
    unsigned origin; /* in a clone: the original's `id` */
    unsigned next_node;
    const struct sim_graph_node *parent; /* the node it is the child graph or a body of; NULL: none */
    struct sim_graph_node **nodes;       /* in the order they were made */
    size_t node_count;
    struct sim_graph_node **order;    /* in a plan: as they are run; owned */
    struct sim_graph_handle *handles; /* of conditional nodes; owned */
    struct sim_user_reference *users; /* references to user objects; owned */
    atomic_uint instances;            /* executable graphs made of it that there are */
};

/* A graph with a handle. NULL without memory. */
struct sim_graph *sim_graph_make(void);

/* Take back the handles of the graph and of all in it, and give up the reference of sim_graph_make. */
void sim_graph_close(struct sim_graph *graph);

/* A copy with or without handles, whose nodes and graphs have the original's ids for `origin`. */
CUresult sim_graph_clone(const struct sim_graph *graph, bool published, struct sim_graph **copy);

/* Takes what `work` owns, also on error. CUDA_ERROR_NOT_SUPPORTED for a node that this graph may not have. */
CUresult sim_graph_add(struct sim_graph *graph, struct sim_graph_node *const *dependencies, size_t count,
                       struct sim_work *work, struct sim_graph_node **node);

/* Put `work` in the place of what the node does. Takes it, also on error. */
CUresult sim_graph_replace(struct sim_graph_node *node, struct sim_work *work);

/* Keep a memcpy node's parameters to be asked for. */
CUresult sim_graph_keep_copy(struct sim_graph_node *node, const CUDA_MEMCPY3D *parameters);

/* Take the node and all its edges out of its graph. */
void sim_graph_remove(struct sim_graph_node *node);

bool sim_graph_depend(struct sim_graph_node *node, struct sim_graph_node *on, struct sim_graph_edge edge);
void sim_graph_undepend(struct sim_graph_node *node, size_t dependency);

/* Index of `on` among the dependencies, or their count. */
size_t sim_graph_dependency(const struct sim_graph_node *node, const struct sim_graph_node *on);

/* Whether the graph, or one inside it, has a node of a kind in the bit set. */
bool sim_graph_has(const struct sim_graph *graph, unsigned long kinds);

/* Graphs inside a node: its child graph or its bodies. */
size_t sim_graph_inner_count(const struct sim_work *work);
struct sim_graph *sim_graph_inner(const struct sim_work *work, size_t index);

#define SIM_GRAPH_KIND(kind)  (1ul << (kind))
#define SIM_GRAPH_MEMORY      (SIM_GRAPH_KIND(SIM_WORK_GRAPH_ALLOCATE) | SIM_GRAPH_KIND(SIM_WORK_GRAPH_FREE))
#define SIM_GRAPH_CONDITIONAL SIM_GRAPH_KIND(SIM_WORK_CONDITION)

#endif
