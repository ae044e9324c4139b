/* The rules of edges: both ends are nodes of one graph, and no graph has a cycle. */
#include "replay/base/error.h"
#include "replay/capture/check.h"
#include "replay/capture/tables.h"

static const char *check_edge(struct nb_checker *checker, uint32_t index)
{
    const struct nb_reader *reader = checker->reader;
    const struct nb_capture_edge *edge = &reader->edges[index];
    if (edge->from >= reader->operation_count || edge->to >= reader->operation_count)
        return "no such operation";
    const uint32_t graph = reader->operations[edge->from].graph;
    if (graph == 0 || graph != reader->operations[edge->to].graph || edge->from == edge->to)
        return "its ends are not two nodes of one graph";
    return NULL;
}

/* The successors of an operation are targets[starts[operation] .. starts[operation + 1]]. */
struct order {
    uint32_t *starts, *targets, *waits, *ready;
};

static void follow(const struct nb_reader *reader, struct order *order)
{
    for (uint32_t i = 0; i < reader->edge_count; i++) {
        order->starts[reader->edges[i].from]++;
        order->waits[reader->edges[i].to]++;
    }
    uint32_t end = 0;
    for (uint32_t i = 0; i <= reader->operation_count; i++)
        order->starts[i] = end += order->starts[i];
    for (uint32_t i = 0; i < reader->edge_count; i++)
        order->targets[--order->starts[reader->edges[i].from]] = reader->edges[i].to;
}

/* Kahn's algorithm: removes operations without predecessors again and again; operations in or behind a cycle
 * are left. Returns the number of removed operations. */
static uint32_t remove_ready(const struct nb_reader *reader, struct order *order)
{
    uint32_t removed = 0, ready = 0;
    for (uint32_t i = 0; i < reader->operation_count; i++)
        if (order->waits[i] == 0)
            order->ready[ready++] = i;
    while (ready > 0) {
        const uint32_t operation = order->ready[--ready];
        removed++;
        for (uint32_t i = order->starts[operation]; i < order->starts[operation + 1]; i++)
            if (--order->waits[order->targets[i]] == 0)
                order->ready[ready++] = order->targets[i];
    }
    return removed;
}

static uint64_t order_words(uint64_t operations, uint64_t edges)
{
    return 3 * (operations + 1) + edges;
}

uint64_t nb_check_edges_scratch(const struct nb_reader_file *file)
{
    return order_words(nb_tables_count(file, NB_CAPTURE_OPERATION), nb_tables_count(file, NB_CAPTURE_EDGE)) *
           sizeof(uint32_t);
}

int nb_check_edges(struct nb_checker *checker)
{
    const struct nb_reader *reader = checker->reader;
    const int status = nb_check_each(checker, "edge", reader->edge_count, check_edge);
    if (status != NB_REPLAY_OK || reader->edge_count == 0)
        return status;
    const size_t count = (size_t)reader->operation_count + 1;
    uint32_t *memory = nb_file_take_scratch(
        checker->file, order_words(reader->operation_count, reader->edge_count) * sizeof *memory);
    if (memory == NULL)
        return nb_error(checker->error, NB_REPLAY_CANNOT, "no memory for %u edges", reader->edge_count);
    struct order order = {memory, memory + 3 * count, memory + count, memory + 2 * count};
    follow(reader, &order);
    return remove_ready(reader, &order) == reader->operation_count
               ? NB_REPLAY_OK
               : nb_error(checker->error, NB_REPLAY_BAD_CAPTURE, "a graph has a cycle");
}
