#include "cuda/graph/capture.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/base/handle_map.h"
#include "core/region/region.h"
#include "cuda/capture/copy.h"
#include "cuda/capture/operation.h"
#include "cuda/capture/refuse.h"
#include "cuda/capture/stream.h"
#include "cuda/graph/description.h"
#include "cuda/graph/write.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/stream.h"

static const char instantiated_without_shim[] = "launches a graph that was instantiated without the shim";
static const char nodes_not_listed[] = "launches a graph whose nodes or edges the driver does not list";
static const char node_not_identified[] =
    "launches a graph with a changed node that the shim cannot identify (after "
    "cuGraphExecUpdate or cuGraphExecChildGraphNodeSetParams)";

/* An executable graph. */
struct graph {
    struct nb_graph_description *description;
    const char *problem; /* why it cannot be written, else NULL */
    bool has_priorities;
    bool has_lost_node; /* an unidentified node was enabled or disabled */
    uint32_t number;    /* number of its last version in a capture */
    uint32_t region;    /* region that has that version; 0 if the graph has changed since */
    uint64_t source;    /* hash of the host memory that its copies read then */
};

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards everything here; taken before the raw capture's lock */
static struct nb_handle_map graphs = NB_HANDLE_MAP_INITIALIZER;
static uint32_t region = 1, last_number;

static void forget_graph(CUgraphExec exec)
{
    struct graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    if (graph == NULL)
        return;
    nb_handle_map_set(&graphs, nb_handle(exec), NULL);
    nb_graph_description_free(graph->description);
    free(graph);
}

/* ---- what a graph is made of --------------------------------------------------------------------------- */

void nb_capture_instantiate_graph(const struct nb_call *call, CUgraphExec exec, CUgraph source,
                                  uint64_t flags)
{
    struct graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        return;
    graph->description = nb_graph_describe(call, source);
    graph->problem = graph->description == NULL ? nodes_not_listed : NULL;
    graph->has_priorities = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0;
    pthread_mutex_lock(&lock);
    forget_graph(exec);
    nb_handle_map_set(&graphs, nb_handle(exec), graph);
    pthread_mutex_unlock(&lock);
}

/* Disabled nodes stay disabled in an update. False if a disabled node has no item in the other
 * description. */
static bool keep_switches(const struct nb_graph_description *from, struct nb_graph_description *to)
{
    bool is_complete = true;
    for (uint32_t i = 0; from != NULL && i < from->item_count; i++) {
        const struct nb_graph_item *item = &from->items[i];
        if (item->kind == NB_GRAPH_CHILD)
            is_complete &= keep_switches(item->as.child, to);
        if (!item->is_disabled)
            continue;
        struct nb_graph_item *same = nb_graph_find(to, item->node);
        if (same != NULL)
            same->is_disabled = true;
        is_complete &= same != NULL;
    }
    return is_complete;
}

/* An update takes the parameters of another graph's nodes. The driver does not tell which node of the
 * executable graph each of them becomes, so later changes of those nodes cannot be followed. */
void nb_capture_update_graph(const struct nb_call *call, CUgraphExec exec, CUgraph source)
{
    pthread_mutex_lock(&lock);
    struct graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    if (graph != NULL) {
        struct nb_graph_description *description = nb_graph_describe(call, source);
        graph->has_lost_node |= !keep_switches(graph->description, description);
        nb_graph_description_free(graph->description);
        graph->description = description;
        graph->problem = description == NULL    ? nodes_not_listed
                         : graph->has_lost_node ? node_not_identified
                                                : NULL;
        graph->region = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* Return the item of a node that is about to change; call with the lock. Return NULL for an item of
 * another kind than `kind`, which is refused anyway. */
static struct nb_graph_item *find_changed_item(CUgraphExec exec, CUgraphNode node,
                                               enum nb_graph_item_kind kind)
{
    struct graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    if (graph == NULL)
        return NULL;
    struct nb_graph_item *item = nb_graph_find(graph->description, node);
    graph->region = 0;
    if (item == NULL && graph->problem == NULL)
        graph->problem = node_not_identified;
    return item != NULL && item->kind == kind ? item : NULL;
}

void nb_capture_change_graph_kernel(const struct nb_call *call, CUgraphExec exec, CUgraphNode node,
                                    const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    pthread_mutex_lock(&lock);
    struct nb_graph_item *item = find_changed_item(exec, node, NB_GRAPH_LAUNCH);
    if (item != NULL)
        nb_graph_set_kernel(call, item, parameters);
    pthread_mutex_unlock(&lock);
}

void nb_capture_change_graph_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *parameters)
{
    pthread_mutex_lock(&lock);
    struct nb_graph_item *item = find_changed_item(exec, node, NB_GRAPH_COPY);
    if (item != NULL)
        item->as.copy = *parameters;
    pthread_mutex_unlock(&lock);
}

void nb_capture_change_graph_memset(CUgraphExec exec, CUgraphNode node,
                                    const CUDA_MEMSET_NODE_PARAMS *parameters)
{
    pthread_mutex_lock(&lock);
    struct nb_graph_item *item = find_changed_item(exec, node, NB_GRAPH_SET);
    if (item != NULL)
        item->as.set = *parameters;
    pthread_mutex_unlock(&lock);
}

void nb_capture_change_graph_child(const struct nb_call *call, CUgraphExec exec, CUgraphNode node,
                                   CUgraph child)
{
    pthread_mutex_lock(&lock);
    struct nb_graph_item *item = find_changed_item(exec, node, NB_GRAPH_CHILD);
    if (item != NULL)
        nb_graph_set_child(call, item, child);
    pthread_mutex_unlock(&lock);
}

void nb_capture_enable_graph_node(CUgraphExec exec, CUgraphNode node, bool enabled)
{
    pthread_mutex_lock(&lock);
    struct graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    struct nb_graph_item *item = graph != NULL ? nb_graph_find(graph->description, node) : NULL;
    if (item != NULL) {
        item->is_disabled = !enabled;
    } else if (graph != NULL) {
        graph->has_lost_node = true;
        graph->problem = graph->problem != NULL ? graph->problem : node_not_identified;
    }
    if (graph != NULL)
        graph->region = 0;
    pthread_mutex_unlock(&lock);
}

void nb_capture_destroy_graph(CUgraphExec exec)
{
    pthread_mutex_lock(&lock);
    forget_graph(exec);
    pthread_mutex_unlock(&lock);
}

/* ---- its launches -------------------------------------------------------------------------------------- */

/* Hash the host memory that the graph's copies read: it may change between launches. */
static uint64_t hash_sources(const struct nb_graph_description *description)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < description->item_count; i++) {
        const struct nb_graph_item *item = &description->items[i];
        if (item->kind == NB_GRAPH_COPY && !item->is_disabled) {
            const struct nb_copy copy = nb_copy_of_volume(&item->as.copy, NULL, false);
            sum = sum * 31 + nb_capture_hash_copy_source(&copy);
        } else if (item->kind == NB_GRAPH_CHILD) {
            sum = sum * 31 + hash_sources(item->as.child);
        }
    }
    return sum;
}

static uint32_t write_graph(const struct nb_call *call, struct graph *graph)
{
    if (graph == NULL || graph->problem != NULL) {
        nb_capture_refuse(call, graph != NULL ? graph->problem : instantiated_without_shim);
        return 0;
    }
    const uint64_t source = hash_sources(graph->description);
    if (graph->region == region && graph->source == source)
        return graph->number;
    last_number++;
    graph->number = nb_graph_write(call, graph->description, last_number) ? last_number : 0;
    graph->region = graph->number != 0 ? region : 0;
    graph->source = source;
    return graph->number;
}

struct nb_capture_graph_launch nb_capture_begin_graph_launch(const struct nb_call *call, CUgraphExec exec,
                                                             CUstream stream)
{
    struct nb_capture_graph_launch launch = {.is_counted = !nb_stream_is_captured(call, stream)};
    const int saved = errno;
    if (launch.is_counted)
        nb_region_before_operation("");
    if (launch.is_counted && nb_region_is_open()) {
        pthread_mutex_lock(&lock);
        struct graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
        launch.number = write_graph(call, graph);
        launch.flags = graph != NULL && graph->has_priorities ? NB_OPERATION_NODE_PRIORITIES : 0;
        pthread_mutex_unlock(&lock);
    }
    errno = saved;
    return launch;
}

void nb_capture_end_graph_launch(const struct nb_call *call, struct nb_capture_graph_launch launch,
                                 CUstream stream, CUresult result)
{
    if (!launch.is_counted)
        return;
    const int saved = errno;
    if (launch.number != 0 && result == CUDA_SUCCESS) {
        struct nb_capture_operation operation = {.kind = NB_OPERATION_GRAPH_LAUNCH,
                                                 .flags = launch.flags,
                                                 .stream = nb_capture_write_stream(call, stream),
                                                 .as.graph = {.graph = launch.number}};
        nb_capture_append_operation(&operation, NULL, 0);
    }
    nb_region_after_launch();
    errno = saved;
}

static void reset(void)
{
    pthread_mutex_lock(&lock);
    region++;
    last_number = 0;
    pthread_mutex_unlock(&lock);
}

static void forget(void)
{
    nb_handle_map_forget(&graphs);
}

const struct nb_component nb_capture_graph_component = {
    .locks = {&lock, &graphs.lock}, .forget = forget, .reset = reset};
