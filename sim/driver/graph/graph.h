/* Graphs and their nodes. An executable graph runs a clone of its graph: see plan.h. */
#ifndef NEUTRINO_SIM_GRAPH_H
#define NEUTRINO_SIM_GRAPH_H

#include "driver/core/api.h"
#include "driver/core/object.h"
#include "driver/stream/work.h"

struct sim_condition_value;
struct sim_graph_handle;
struct sim_user_reference;

/* Edge data as in CUgraphEdgeData, which headers before 12.3 lack. Here a node always waits for the whole of
 * the earlier node, which the API allows; edge data is only stored. */
struct sim_graph_edge {
    unsigned char from_port;
    unsigned char type;
};

struct sim_graph_node {
    struct sim_object object; /* freed with its graph */
    struct sim_graph *graph;
    struct sim_context *context; /* current context at creation, compared by handle */
    struct sim_work work;
    unsigned id;         /* unique in its graph, never reused */
    unsigned origin;     /* in a clone: `id` of the original */
    bool cloned;         /* false: added after the clone */
    size_t position;     /* index in the graph's `nodes` */
    bool disabled;       /* in a plan: skipped by launches */
    void **arguments;    /* of a kernel node: pointers to its parameters, for GetParams; owned */
    CUDA_MEMCPY3D *copy; /* of a memcpy node: parameters as passed; NULL if captured; owned */
    struct sim_graph_attributes *attributes; /* of a kernel node; NULL: defaults; owned */
    struct sim_graph_node **dependencies;
    struct sim_graph_edge *edges; /* one per dependency */
    size_t dependency_count;
};

struct sim_graph {
    struct sim_object object;
    unsigned id;
    unsigned origin; /* in a clone: `id` of the original */
    unsigned next_node;
    const struct sim_graph_node
        *parent; /* the node that contains this graph as a child graph or body; NULL: none */
    struct sim_graph_node **nodes; /* in order of creation */
    size_t node_count;
    struct sim_graph_node **order;    /* in a plan: in running order; owned */
    struct sim_graph_handle *handles; /* of conditional nodes; owned */
    struct sim_user_reference *users; /* references to user objects; owned */
    atomic_uint instances;            /* number of executable graphs made from this graph */
};

/* CU_LAUNCH_ATTRIBUTE_MAX of the newest known header. Newer attributes are not supported. */
#define SIM_GRAPH_ATTRIBUTES 19

/* Launch attributes of a kernel node: attribute.h. */
struct sim_graph_attributes {
    CUlaunchAttributeValue values[SIM_GRAPH_ATTRIBUTES]; /* by id */
};

/* CUgraphConditionalNodeType; headers before 12.3 lack it. */
enum sim_condition_type { SIM_CONDITION_IF, SIM_CONDITION_WHILE, SIM_CONDITION_SWITCH };

/* A conditional node: condition.h. */
struct sim_graph_condition {
    struct sim_condition_value *value; /* owned reference */
    enum sim_condition_type type;
    unsigned size;
    struct sim_graph *bodies[];
};

/* A graph with a handle. NULL: out of memory. */
struct sim_graph *sim_graph_make(void);

/* Withdraw the handles of the graph and its nested graphs, and release the reference of sim_graph_make. */
void sim_graph_close(struct sim_graph *graph);

/* A copy, with or without handles. `origin` of its graphs and nodes is the id of the original. */
CUresult sim_graph_clone(const struct sim_graph *graph, bool published, struct sim_graph **copy);

/* Takes what `work` owns, also on error. CUDA_ERROR_NOT_SUPPORTED if this graph may not contain such a node.
 */
CUresult sim_graph_add(struct sim_graph *graph, struct sim_graph_node *const *dependencies, size_t count,
                       struct sim_work *work, struct sim_graph_node **node);

/* Replace the node's work. Takes what `work` owns, also on error. */
CUresult sim_graph_replace(struct sim_graph_node *node, struct sim_work *work);

/* Keep a memcpy node's parameters for queries. */
CUresult sim_graph_keep_copy(struct sim_graph_node *node, const CUDA_MEMCPY3D *parameters);

/* Give the node a copy of the attributes. NULL: use the defaults. */
CUresult sim_graph_keep_attributes(struct sim_graph_node *node,
                                   const struct sim_graph_attributes *attributes);

/* Remove the node and its edges from its graph. */
void sim_graph_remove(struct sim_graph_node *node);

bool sim_graph_add_dependency(struct sim_graph_node *node, struct sim_graph_node *on,
                              struct sim_graph_edge edge);
void sim_graph_remove_dependency(struct sim_graph_node *node, size_t dependency);

/* Index of `on` among the dependencies. Their count if it is not one of them. */
size_t sim_graph_find_dependency(const struct sim_graph_node *node, const struct sim_graph_node *on);

/* Whether the graph, or a nested graph, has a node of a kind in the bit set. */
bool sim_graph_has(const struct sim_graph *graph, unsigned long kinds);

/* Graphs nested in a node: its child graph or its bodies. */
size_t sim_graph_inner_count(const struct sim_work *work);
struct sim_graph *sim_graph_inner(const struct sim_work *work, size_t index);

#define SIM_GRAPH_KIND(kind)  (1ul << (kind))
#define SIM_GRAPH_MEMORY      (SIM_GRAPH_KIND(SIM_WORK_GRAPH_ALLOCATE) | SIM_GRAPH_KIND(SIM_WORK_GRAPH_FREE))
#define SIM_GRAPH_CONDITIONAL SIM_GRAPH_KIND(SIM_WORK_CONDITION)

#endif
