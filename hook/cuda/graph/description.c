#include "cuda/graph/description.h"

#include <stdlib.h>
#include <string.h>

#include "core/driver/slots.h"
#include "cuda/graph/node.h"
#include "real.h"
#include "surface.h"

/* Attributes that a node may have. Newer ones are given by number, because cuda.h 12.5 lacks them. */
static const uint32_t queried_attributes[] = {
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    CU_LAUNCH_ATTRIBUTE_PRIORITY,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    11 /* PREFERRED_CLUSTER_DIMENSION */,
    CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
    14 /* PREFERRED_SHARED_MEMORY_CARVEOUT */,
    16 /* NVLINK_UTIL_CENTRIC_SCHEDULING */,
};
#define QUERIED_ATTRIBUTES (sizeof queried_attributes / sizeof *queried_attributes)

static struct nb_graph_description *describe(const struct nb_call *call, CUgraph graph, int depth);

static const char *find_reason(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_HOST:
        return "launches a graph that calls a host function; a replay runs no code of the program";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return "launches a graph that records an event or waits for one, which is not recorded";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return "launches a graph with external semaphores; a replay runs without the other API or process";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return "launches a graph that allocates or frees memory, which is not recorded";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return "launches a graph with stream memory operations, which are not recorded";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return "launches a graph with a conditional node, which is not recorded";
    default:
        return "launches a graph with an unknown kind of node";
    }
}

static void refuse(struct nb_graph_item *item, const char *reason)
{
    item->kind = NB_GRAPH_REFUSED;
    item->reason = reason;
}

/* Unset attributes are all zeros, except the map, which maps each domain to itself (driver 580). */
static bool is_set(const CUlaunchAttribute *attribute)
{
    static const CUlaunchAttributeValue unset;
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        return attribute->value.memSyncDomainMap.default_ != 0 ||
               attribute->value.memSyncDomainMap.remote != 1;
    return memcmp(&attribute->value, &unset, sizeof unset) != 0;
}

/* False if memory runs out. */
static bool query_attributes(struct nb_graph_launch_item *launch, CUgraphNode node)
{
    launch->attributes = calloc(QUERIED_ATTRIBUTES, sizeof *launch->attributes);
    if (launch->attributes == NULL)
        return false;
    for (size_t i = 0; NB_HAS(cuGraphKernelNodeGetAttribute) && i < QUERIED_ATTRIBUTES; i++) {
        CUlaunchAttribute attribute = {.id = (CUlaunchAttributeID)queried_attributes[i]};
        if (NB_REAL(cuGraphKernelNodeGetAttribute)(node, attribute.id, &attribute.value) == CUDA_SUCCESS &&
            is_set(&attribute))
            launch->attributes[launch->attribute_count++] = attribute;
    }
    return true;
}

static void describe_kernel(const struct nb_call *call, struct nb_graph_item *item)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    if (nb_graph_kernel_parameters(item->node, &parameters) != CUDA_SUCCESS) {
        refuse(item, "launches a graph with a kernel whose parameters the driver does not return");
        return;
    }
    if (!query_attributes(&item->as.launch, item->node)) {
        refuse(item, "launches a graph with a kernel; not enough memory to keep its attributes");
        return;
    }
    item->kind = NB_GRAPH_LAUNCH;
    nb_graph_set_kernel(call, item, &parameters);
}

void nb_graph_set_kernel(const struct nb_call *call, struct nb_graph_item *item,
                         const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    struct nb_graph_launch_item *launch = &item->as.launch;
    const uint32_t grid[] = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ};
    const uint32_t block[] = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ};
    const bool has_function = parameters->func != NULL;
    launch->function = has_function ? parameters->func : (CUfunction)parameters->kern;
    launch->context = has_function ? NULL : parameters->ctx;
    memcpy(launch->grid, grid, sizeof grid);
    memcpy(launch->block, block, sizeof block);
    launch->shared_bytes = parameters->sharedMemBytes;
    free(launch->parameters.start);
    launch->parameters =
        nb_capture_copy_parameters(call, launch->function, parameters->kernelParams, parameters->extra);
}

void nb_graph_set_child(const struct nb_call *call, struct nb_graph_item *item, CUgraph child)
{
    if (item->kind != NB_GRAPH_CHILD)
        return;
    nb_graph_description_free(item->as.child);
    item->as.child = nb_graph_describe(call, child);
    if (item->as.child == NULL)
        refuse(item, "launches a graph with a child graph whose nodes the driver does not list");
}

static void describe_item(const struct nb_call *call, struct nb_graph_item *item, int depth)
{
    CUgraphNodeType type;
    CUgraph child = NULL;
    CUresult result = NB_REAL(cuGraphNodeGetType)(item->node, &type);
    refuse(item, "launches a graph with a node whose parameters the driver does not return");
    if (result != CUDA_SUCCESS)
        return;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        describe_kernel(call, item);
        return;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (NB_REAL(cuGraphMemcpyNodeGetParams)(item->node, &item->as.copy) == CUDA_SUCCESS)
            item->kind = NB_GRAPH_COPY;
        return;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        if (NB_REAL(cuGraphMemsetNodeGetParams)(item->node, &item->as.set) == CUDA_SUCCESS)
            item->kind = NB_GRAPH_SET;
        return;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        item->kind = NB_GRAPH_EMPTY;
        return;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        if (depth < NB_GRAPH_DEPTH_MAX &&
            NB_REAL(cuGraphChildGraphNodeGetGraph)(item->node, &child) == CUDA_SUCCESS)
            item->as.child = describe(call, child, depth + 1);
        if (item->as.child != NULL)
            item->kind = NB_GRAPH_CHILD;
        return;
    default:
        refuse(item, find_reason(type));
    }
}

/* Edges name nodes by handle. Maps a node's handle to its item; sorted by handle. */
struct position {
    CUgraphNode node;
    uint32_t item;
};

static int compare(const void *left, const void *right)
{
    const uintptr_t a = (uintptr_t)((const struct position *)left)->node;
    const uintptr_t b = (uintptr_t)((const struct position *)right)->node;
    return a < b ? -1 : a > b;
}

static bool link_items(struct nb_graph_description *description, const struct nb_graph_edges *edges,
                       const struct position *positions)
{
    for (size_t i = 0; i < edges->count; i++) {
        const struct position from = {edges->from[i], 0}, to = {edges->to[i], 0};
        const struct position *source =
            bsearch(&from, positions, description->item_count, sizeof *positions, compare);
        const struct position *target =
            bsearch(&to, positions, description->item_count, sizeof *positions, compare);
        if (source == NULL || target == NULL)
            return false;
        description->links[description->link_count++] =
            (struct nb_graph_link){source->item, target->item, edges->data[i]};
    }
    return true;
}

static bool describe_links(struct nb_graph_description *description, CUgraph graph)
{
    struct nb_graph_edges edges;
    struct position *positions = calloc(description->item_count + 1u, sizeof *positions);
    bool described = nb_graph_edges(graph, &edges) && edges.count <= UINT32_MAX && positions != NULL;
    if (described && edges.count != 0) {
        for (uint32_t i = 0; i < description->item_count; i++)
            positions[i] = (struct position){description->items[i].node, i};
        qsort(positions, description->item_count, sizeof *positions, compare);
        description->links = calloc(edges.count, sizeof *description->links);
        described = description->links != NULL && link_items(description, &edges, positions);
    }
    nb_graph_edges_free(&edges);
    free(positions);
    return described;
}

static struct nb_graph_description *describe(const struct nb_call *call, CUgraph graph, int depth)
{
    size_t count;
    CUgraphNode *nodes = nb_graph_nodes(graph, &count);
    struct nb_graph_description *description = calloc(1, sizeof *description);
    bool described = description != NULL && count < UINT32_MAX && (nodes != NULL || count == 0);
    if (described)
        description->items = calloc(count + 1, sizeof *description->items);
    described = described && description->items != NULL;
    for (size_t i = 0; described && i < count; i++) {
        struct nb_graph_item *item = &description->items[description->item_count++];
        item->node = nodes[i];
        describe_item(call, item, depth);
    }
    described = described && describe_links(description, graph);
    free(nodes);
    if (described)
        return description;
    nb_graph_description_free(description);
    return NULL;
}

struct nb_graph_description *nb_graph_describe(const struct nb_call *call, CUgraph graph)
{
    return describe(call, graph, 0);
}

void nb_graph_description_free(struct nb_graph_description *description)
{
    for (uint32_t i = 0; description != NULL && i < description->item_count; i++) {
        struct nb_graph_item *item = &description->items[i];
        if (item->kind == NB_GRAPH_LAUNCH) {
            free(item->as.launch.parameters.start);
            free(item->as.launch.attributes);
        } else if (item->kind == NB_GRAPH_CHILD) {
            nb_graph_description_free(item->as.child);
        }
    }
    if (description != NULL) {
        free(description->items);
        free(description->links);
    }
    free(description);
}

struct nb_graph_item *nb_graph_find(struct nb_graph_description *description, CUgraphNode node)
{
    struct nb_graph_item *match = NULL;
    for (uint32_t i = 0; description != NULL && match == NULL && i < description->item_count; i++) {
        struct nb_graph_item *item = &description->items[i];
        if (item->node == node)
            match = item;
        else if (item->kind == NB_GRAPH_CHILD)
            match = nb_graph_find(item->as.child, node);
    }
    return match;
}
