#include "cuda/graph/write.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/vector.h"
#include "core/driver/slots.h"
#include "core/region/raw_capture.h"
#include "cuda/capture/attribute.h"
#include "cuda/capture/copy.h"
#include "cuda/capture/kernel.h"
#include "cuda/capture/memset.h"
#include "cuda/capture/operation.h"
#include "cuda/capture/refuse.h"
#include "real.h"
#include "surface.h"

/* Sanity limit. A contained graph multiplies the edges to and from it by the number of its first and last
 * nodes. */
#define EDGES_MAX (1u << 22)

/* Operations to which edges to an item lead, and from which edges from it start. */
struct ends {
    struct nb_vector first, last; /* indexes of operations */
};

struct writer {
    const struct nb_call *call;
    uint32_t number;
    uint32_t edges;
    bool failed; /* memory ran out, or too many edges */
};

static const struct ends no_ends = {NB_VECTOR_INITIALIZER(uint32_t), NB_VECTOR_INITIALIZER(uint32_t)};

static void append(struct writer *writer, struct nb_vector *list, uint32_t index)
{
    writer->failed |= !nb_vector_append(list, &index);
}

static uint32_t index_at(const struct nb_vector *list, size_t position)
{
    return *(const uint32_t *)nb_vector_item(list, position);
}

static void free_ends(struct ends *ends)
{
    nb_vector_free(&ends->first);
    nb_vector_free(&ends->last);
}

static uint32_t write_empty(const struct writer *writer)
{
    struct nb_capture_operation operation = {
        .kind = NB_OPERATION_EMPTY, .stream = NB_NOTHING, .graph = writer->number};
    return nb_capture_append_operation(&operation, NULL, 0);
}

static bool is_cooperative(const struct nb_graph_launch_item *launch)
{
    for (uint32_t i = 0; i < launch->attribute_count; i++)
        if (launch->attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
            launch->attributes[i].value.cooperative)
            return true;
    return false;
}

static bool is_of_other_context(const struct nb_graph_launch_item *launch)
{
    CUcontext current = NULL;
    return launch->context != NULL && NB_REAL(cuCtxGetCurrent)(&current) == CUDA_SUCCESS &&
           launch->context != current;
}

static uint32_t write_launch(const struct writer *writer, const struct nb_graph_item *item)
{
    const struct nb_graph_launch_item *launch = &item->as.launch;
    if (is_of_other_context(launch))
        nb_capture_refuse(writer->call,
                          "launches a graph with a kernel of another context; a replay has one context");
    const uint32_t kernel = nb_capture_write_kernel(writer->call, launch->function);
    if (kernel != NB_NOTHING && launch->parameters.start == NULL)
        nb_capture_refuse(writer->call, "launches a graph with a kernel whose parameters are unknown");
    struct nb_attribute *attributes = calloc(launch->attribute_count + 1u, sizeof *attributes);
    uint32_t index = NB_NOTHING;
    if (attributes == NULL)
        nb_capture_refuse_incomplete();
    if (kernel != NB_NOTHING && launch->parameters.start != NULL && attributes != NULL) {
        const uint32_t count =
            nb_capture_copy_attributes(writer->call, launch->attributes, launch->attribute_count, attributes);
        struct nb_capture_operation operation = {
            .kind = NB_OPERATION_KERNEL,
            .flags = (item->is_disabled ? NB_OPERATION_DISABLED : 0u) |
                     (is_cooperative(launch) ? NB_OPERATION_COOPERATIVE : 0u),
            .stream = NB_NOTHING,
            .graph = writer->number,
            .as.launch = {.kernel = kernel, .shared_bytes = launch->shared_bytes}};
        memcpy(operation.as.launch.grid, launch->grid, sizeof launch->grid);
        memcpy(operation.as.launch.block, launch->block, sizeof launch->block);
        const struct nb_piece data[] = {{launch->parameters.start, launch->parameters.bytes},
                                        {attributes, count * sizeof *attributes}};
        index = nb_capture_append_operation(&operation, data, 2);
        if (index != NB_NOTHING)
            nb_capture_check_parameters(writer->call, index, launch->parameters.start,
                                        launch->parameters.bytes);
    }
    free(attributes);
    return index;
}

static uint32_t write_set(const struct writer *writer, const CUDA_MEMSET_NODE_PARAMS *set)
{
    return nb_capture_memset(writer->call, (struct nb_set){.address = set->dst,
                                                           .pitch = set->pitch,
                                                           .width = set->width,
                                                           .height = set->height,
                                                           .value = set->value,
                                                           .element_bytes = set->elementSize,
                                                           .graph = writer->number});
}

static uint32_t write_copy(const struct writer *writer, const CUDA_MEMCPY3D *parameters)
{
    struct nb_copy copy = nb_copy_of_volume(parameters, NULL, false);
    copy.graph = writer->number;
    return nb_capture_copy(writer->call, copy);
}

static uint32_t write_item(const struct writer *writer, const struct nb_graph_item *item)
{
    uint32_t index = NB_NOTHING;
    if (item->is_disabled && item->kind != NB_GRAPH_LAUNCH)
        return write_empty(writer); /* a disabled node does no work, so nothing is refused */
    if (item->kind == NB_GRAPH_REFUSED)
        nb_capture_refuse(writer->call, item->reason);
    else if (item->kind == NB_GRAPH_LAUNCH)
        index = write_launch(writer, item);
    else if (item->kind == NB_GRAPH_SET)
        index = write_set(writer, &item->as.set);
    else if (item->kind == NB_GRAPH_COPY)
        index = write_copy(writer, &item->as.copy);
    return index != NB_NOTHING ? index : write_empty(writer);
}

static void write_edges(struct writer *writer, const struct nb_vector *from, const struct nb_vector *to,
                        const CUgraphEdgeData *data)
{
    for (size_t i = 0; i < from->count; i++)
        for (size_t j = 0; j < to->count && !writer->failed; j++) {
            const struct nb_capture_edge edge = {.from = index_at(from, i),
                                                 .to = index_at(to, j),
                                                 .from_port = data->from_port,
                                                 .to_port = data->to_port,
                                                 .type = data->type};
            const struct nb_piece piece = {&edge, sizeof edge};
            nb_raw_capture_append(NB_CAPTURE_EDGE, &piece, 1);
            writer->failed = ++writer->edges > EDGES_MAX;
        }
}

static void write_description(struct writer *writer, const struct nb_graph_description *description,
                              struct ends *around);

static void write_item_or_child(struct writer *writer, const struct nb_graph_item *item, struct ends *ends)
{
    if (item->kind == NB_GRAPH_CHILD) {
        write_description(writer, item->as.child, ends);
        return;
    }
    const uint32_t index = write_item(writer, item);
    append(writer, &ends->first, index);
    append(writer, &ends->last, index);
}

static void append_all(struct writer *writer, struct nb_vector *to, const struct nb_vector *from)
{
    for (size_t i = 0; i < from->count; i++)
        append(writer, to, index_at(from, i));
}

/* Fill `around` with the first and last operations of the whole graph. */
static void write_items(struct writer *writer, const struct nb_graph_description *description,
                        struct ends *items, struct ends *around)
{
    unsigned char *links_of =
        calloc(description->item_count, 2); /* 1: an edge leads to it; 2: an edge starts at it */
    writer->failed |= links_of == NULL;
    for (uint32_t i = 0; !writer->failed && i < description->item_count; i++)
        write_item_or_child(writer, &description->items[i], &items[i]);
    for (uint32_t i = 0; !writer->failed && i < description->link_count; i++) {
        const struct nb_graph_link *link = &description->links[i];
        write_edges(writer, &items[link->from].last, &items[link->to].first, &link->data);
        links_of[link->to] |= 1;
        links_of[link->from] |= 2;
    }
    for (uint32_t i = 0; !writer->failed && i < description->item_count; i++) {
        if ((links_of[i] & 1) == 0)
            append_all(writer, &around->first, &items[i].first);
        if ((links_of[i] & 2) == 0)
            append_all(writer, &around->last, &items[i].last);
    }
    free(links_of);
}

static void write_description(struct writer *writer, const struct nb_graph_description *description,
                              struct ends *around)
{
    if (description->item_count == 0) { /* an empty graph still orders the work before and after it */
        const uint32_t index = write_empty(writer);
        append(writer, &around->first, index);
        append(writer, &around->last, index);
        return;
    }
    struct ends *items = calloc(description->item_count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < description->item_count; i++)
        items[i] = no_ends;
    if (items != NULL)
        write_items(writer, description, items, around);
    else
        writer->failed = true;
    for (uint32_t i = 0; items != NULL && i < description->item_count; i++)
        free_ends(&items[i]);
    free(items);
}

bool nb_graph_write(const struct nb_call *call, const struct nb_graph_description *description,
                    uint32_t number)
{
    struct writer writer = {.call = call, .number = number};
    struct ends around = no_ends;
    write_description(&writer, description, &around);
    free_ends(&around);
    if (writer.failed)
        nb_capture_refuse(call, "launches a graph with too many edges after its child graphs are flattened");
    return !writer.failed;
}
