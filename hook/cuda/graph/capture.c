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

static const char past_the_shim[] = "launches a graph of which the shim has not seen what it is made of";
static const char unlisted[] = "launches a graph whose nodes or edges the driver does not list";
static const char lost_node[] =
    "launches a graph in which a node was changed that the shim cannot tell from the others (after "
    "cuGraphExecUpdate or cuGraphExecChildGraphNodeSetParams)";

/* An executable graph. */
struct graph {
    struct nb_graph_description *description;
    const char *problem; /* why it cannot be written; else NULL */
    bool has_priorities;
    bool has_lost_switch; /* a node was switched on or off, and which is no longer known */
    uint32_t number;      /* as it was last written */
    uint32_t recording;   /* in which it was; 0: it has changed since */
    uint64_t source;      /* what of the host's memory its copies read then */
};

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of everything here; taken before the recording's */
static struct nb_handle_map graphs = NB_HANDLE_MAP_INITIALIZER;
static uint32_t recording = 1, last_number;

static void forget(CUgraphExec exec)
{
    struct graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    if (graph == NULL)
        return;
    nb_handle_map_set(&graphs, nb_handle(exec), NULL);
    nb_graph_description_free(graph->description);
    free(graph);
}

/* ---- what a graph is made of --------------------------------------------------------------------------- */

void nb_capture_graph_made(const struct nb_call *call, CUgraphExec exec, CUgraph source, uint64_t flags)
{
    struct graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        return;
    graph->description = nb_graph_describe(call, source);
    graph->problem = graph->description == NULL ? unlisted : NULL;
    graph->has_priorities = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0;
    pthread_mutex_lock(&lock);
    forget(exec);
    nb_handle_map_set(&graphs, nb_handle(exec), graph);
    pthread_mutex_unlock(&lock);
}

/* What is switched off stays so in an update. False if a node that is has no item in the other description.
 */
static bool keep_switches(const struct nb_graph_description *from, struct nb_graph_description *to)
{
    bool kept = true;
    for (uint32_t i = 0; from != NULL && i < from->item_count; i++) {
        const struct nb_graph_item *item = &from->items[i];
        if (item->kind == NB_GRAPH_CHILD)
            kept &= keep_switches(item->as.child, to);
        if (!item->is_disabled)
            continue;
        struct nb_graph_item *same = nb_graph_find(to, item->node);
        if (same != NULL)
            same->is_disabled = true;
        kept &= same != NULL;
    }
    return kept;
}

/* An update has the parameters of another graph's nodes. Which of them is which of the executable graph's own
 * the driver does not say, so a change of one of those can then not be followed. */
void nb_capture_graph_updated(const struct nb_call *call, CUgraphExec exec, CUgraph source)
{
    pthread_mutex_lock(&lock);
    struct graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    if (graph != NULL) {
        struct nb_graph_description *description = nb_graph_describe(call, source);
        graph->has_lost_switch |= !keep_switches(graph->description, description);
        nb_graph_description_free(graph->description);
        graph->description = description;
        graph->problem = description == NULL ? unlisted : graph->has_lost_switch ? lost_node : NULL;
        graph->recording = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* The item of a node that is being changed, with the lock. Another kind than `kind` is one that is refused.
 */
static struct nb_graph_item *change(CUgraphExec exec, CUgraphNode node, enum nb_graph_item_kind kind)
{
    struct graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    if (graph == NULL)
        return NULL;
    struct nb_graph_item *item = nb_graph_find(graph->description, node);
    graph->recording = 0;
    if (item == NULL && graph->problem == NULL)
        graph->problem = lost_node;
    return item != NULL && item->kind == kind ? item : NULL;
}

void nb_capture_graph_kernel(const struct nb_call *call, CUgraphExec exec, CUgraphNode node,
                             const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    pthread_mutex_lock(&lock);
    struct nb_graph_item *item = change(exec, node, NB_GRAPH_LAUNCH);
    if (item != NULL)
        nb_graph_set_kernel(call, item, parameters);
    pthread_mutex_unlock(&lock);
}

void nb_capture_graph_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *parameters)
{
    pthread_mutex_lock(&lock);
    struct nb_graph_item *item = change(exec, node, NB_GRAPH_COPY);
    if (item != NULL)
        item->as.copy = *parameters;
    pthread_mutex_unlock(&lock);
}

void nb_capture_graph_set(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *parameters)
{
    pthread_mutex_lock(&lock);
    struct nb_graph_item *item = change(exec, node, NB_GRAPH_SET);
    if (item != NULL)
        item->as.set = *parameters;
    pthread_mutex_unlock(&lock);
}

void nb_capture_graph_child(const struct nb_call *call, CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    pthread_mutex_lock(&lock);
    struct nb_graph_item *item = change(exec, node, NB_GRAPH_CHILD);
    if (item != NULL)
        nb_graph_set_child(call, item, child);
    pthread_mutex_unlock(&lock);
}

void nb_capture_graph_enabled(CUgraphExec exec, CUgraphNode node, bool enabled)
{
    pthread_mutex_lock(&lock);
    struct graph *graph = nb_handle_map_get(&graphs, nb_handle(exec));
    struct nb_graph_item *item = graph != NULL ? nb_graph_find(graph->description, node) : NULL;
    if (item != NULL) {
        item->is_disabled = !enabled;
    } else if (graph != NULL) {
        graph->has_lost_switch = true;
        graph->problem = graph->problem != NULL ? graph->problem : lost_node;
    }
    if (graph != NULL)
        graph->recording = 0;
    pthread_mutex_unlock(&lock);
}

void nb_capture_graph_destroyed(CUgraphExec exec)
{
    pthread_mutex_lock(&lock);
    forget(exec);
    pthread_mutex_unlock(&lock);
}

/* ---- its launches -------------------------------------------------------------------------------------- */

/* Of all that the graph's copies read from the host: what a launch reads may be other than at the last one.
 */
static uint64_t source_of(const struct nb_graph_description *description)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < description->item_count; i++) {
        const struct nb_graph_item *item = &description->items[i];
        if (item->kind == NB_GRAPH_COPY && !item->is_disabled) {
            const struct nb_copy copy = nb_copy_of_volume(&item->as.copy, NULL, false);
            sum = sum * 31 + nb_capture_copy_source(&copy);
        } else if (item->kind == NB_GRAPH_CHILD) {
            sum = sum * 31 + source_of(item->as.child);
        }
    }
    return sum;
}

static uint32_t write_graph(const struct nb_call *call, struct graph *graph)
{
    if (graph == NULL || graph->problem != NULL) {
        nb_capture_refuse(call, graph != NULL ? graph->problem : past_the_shim);
        return 0;
    }
    const uint64_t source = source_of(graph->description);
    if (graph->recording == recording && graph->source == source)
        return graph->number;
    last_number++;
    graph->number = nb_graph_write(call, graph->description, last_number) ? last_number : 0;
    graph->recording = graph->number != 0 ? recording : 0;
    graph->source = source;
    return graph->number;
}

struct nb_capture_graph_launch nb_capture_graph_before(const struct nb_call *call, CUgraphExec exec,
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

void nb_capture_graph_after(const struct nb_call *call, struct nb_capture_graph_launch launch,
                            CUstream stream, CUresult result)
{
    if (!launch.is_counted)
        return;
    const int saved = errno;
    if (launch.number != 0 && result == CUDA_SUCCESS) {
        struct nb_capture_operation operation = {.kind = NB_OPERATION_GRAPH_LAUNCH,
                                                 .flags = launch.flags,
                                                 .stream = nb_capture_stream(call, stream),
                                                 .as.graph = {.graph = launch.number}};
        nb_capture_operation(&operation, NULL, 0);
    }
    nb_region_after_launch();
    errno = saved;
}

static void reset(void)
{
    pthread_mutex_lock(&lock);
    recording++;
    last_number = 0;
    pthread_mutex_unlock(&lock);
}

static void forget_all(void)
{
    nb_handle_map_forget(&graphs);
}

const struct nb_component nb_capture_graph_component = {
    .locks = {&lock, &graphs.lock}, .forget = forget_all, .reset = reset};
