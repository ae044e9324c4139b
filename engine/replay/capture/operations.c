/* The rules of operations. */
#include <string.h>

#include "core/wire/record.h"
#include "replay/base/error.h"
#include "replay/capture/check.h"
#include "replay/capture/tables.h"

enum { BLOCK_MAX = 1024, SHARED_MAX = 1 << 20, ATTRIBUTES_MAX = 64 };

static bool can_be_node(uint32_t kind)
{
    return kind <= NB_OPERATION_MEMCPY_HTOD || kind == NB_OPERATION_EMPTY;
}

/* Rules of an operation's graph, stream and flags. */
static const char *check_place(const struct nb_reader *reader, const struct nb_capture_operation *operation)
{
    const uint32_t kind = operation->kind, flags = operation->flags;
    const bool is_node = operation->graph != 0;
    if (kind < NB_OPERATION_KERNEL || kind > NB_OPERATION_MEMCPY_DTOH)
        return "an unknown kind";
    if ((flags &
         ~(uint32_t)(NB_OPERATION_COOPERATIVE | NB_OPERATION_DISABLED | NB_OPERATION_NODE_PRIORITIES)) != 0)
        return "unknown flags";
    if (is_node ? !can_be_node(kind) : kind == NB_OPERATION_EMPTY)
        return is_node ? "a step of the region in a graph" : "a node outside every graph";
    if (is_node && operation->graph > reader->operation_count)
        return "no such graph";
    if (is_node && operation->stream != NB_NOTHING)
        return "a node on a stream";
    const bool joins_all = kind == NB_OPERATION_SYNCHRONIZE && operation->stream == NB_NOTHING;
    if (!is_node && !joins_all && operation->stream >= reader->stream_count)
        return "no such stream";
    if ((flags & NB_OPERATION_DISABLED) != 0 && !is_node)
        return "disabled, but not a node";
    if ((flags & NB_OPERATION_COOPERATIVE) != 0 && kind != NB_OPERATION_KERNEL)
        return "cooperative, but not a launch";
    if ((flags & NB_OPERATION_NODE_PRIORITIES) != 0 && kind != NB_OPERATION_GRAPH_LAUNCH)
        return "with node priorities, but not a graph launch";
    return NULL;
}

static bool can_be_launched(const uint32_t grid[3], const uint32_t block[3])
{
    static const uint32_t most[3] = {0x7fffffff, 0xffff, 0xffff};
    for (int i = 0; i < 3; i++)
        if (grid[i] == 0 || grid[i] > most[i] || block[i] == 0 || block[i] > BLOCK_MAX)
            return false;
    return block[0] * block[1] * block[2] <= BLOCK_MAX;
}

static const char *check_launch(const struct nb_reader *reader, const struct nb_capture_operation *operation)
{
    if (operation->as.launch.kernel >= reader->kernel_count)
        return "no such kernel";
    if (!can_be_launched(operation->as.launch.grid, operation->as.launch.block))
        return "an invalid grid or block";
    if (operation->as.launch.shared_bytes > SHARED_MAX)
        return "more than 1 MiB of shared memory";
    const struct nb_span parameters = operation->as.launch.parameters;
    if (!nb_span_is_inside(reader, parameters))
        return "parameters outside the data";
    if (parameters.bytes < reader->kernels[operation->as.launch.kernel].parameter_bytes ||
        parameters.bytes > NB_READER_PARAMETERS_MAX)
        return "fewer bytes of parameters than its kernel has, or more than 65536";
    const struct nb_span attributes = operation->as.launch.attributes;
    if (!nb_span_is_array(reader, attributes, sizeof(struct nb_attribute)) ||
        attributes.bytes > ATTRIBUTES_MAX * sizeof(struct nb_attribute))
        return "attributes that are too many, not whole, or not in the data";
    return NULL;
}

struct extent {
    uint64_t address, pitch, slice;
    nb_wide width; /* bytes of a row; height and depth count rows and slices */
    uint64_t height, depth;
};

/* Rows and slices do not overlap, and the capture has all of their memory. With several rows the width is
 * known to fit 64 bits, and with several slices the plane, so that no product overflows. */
static const char *check_extent(const struct nb_checker *checker, const struct extent *extent)
{
    if (extent->height == 0 || extent->depth == 0)
        return "no rows";
    if (extent->height > 1 && extent->pitch < extent->width)
        return "rows overlap";
    const nb_wide plane = (nb_wide)(extent->height - 1) * extent->pitch + extent->width;
    if (extent->depth > 1 && extent->slice < plane)
        return "slices overlap";
    const nb_wide bytes = (nb_wide)(extent->depth - 1) * extent->slice + plane;
    if (extent->width != 0 && !nb_memory_holds(checker, extent->address, bytes))
        return "it reads or writes memory outside every allocation and global";
    return NULL;
}

static const char *check_set(const struct nb_checker *checker, const struct nb_capture_operation *operation)
{
    const uint32_t bytes = operation->as.set.element_bytes;
    if (bytes != 1 && bytes != 2 && bytes != 4)
        return "elements that have not 1, 2 or 4 bytes";
    if ((uint64_t)operation->as.set.value >> 8 * bytes != 0)
        return "a value that does not fit its elements";
    const struct extent extent = {operation->as.set.address,
                                  operation->as.set.pitch,
                                  0,
                                  (nb_wide)operation->as.set.width * bytes,
                                  operation->as.set.height,
                                  1};
    return check_extent(checker, &extent);
}

static const char *check_destination(const struct nb_checker *checker,
                                     const struct nb_capture_operation *operation)
{
    const struct extent extent = {operation->as.copy.destination,
                                  operation->as.copy.destination_pitch,
                                  operation->as.copy.destination_slice,
                                  operation->as.copy.width,
                                  operation->as.copy.height,
                                  operation->as.copy.depth};
    return check_extent(checker, &extent);
}

static const char *check_copy(const struct nb_checker *checker, const struct nb_capture_operation *operation)
{
    const struct extent extent = {operation->as.copy.source,       operation->as.copy.source_pitch,
                                  operation->as.copy.source_slice, operation->as.copy.width,
                                  operation->as.copy.height,       operation->as.copy.depth};
    const char *why = check_extent(checker, &extent);
    return why != NULL ? why : check_destination(checker, operation);
}

static const char *check_upload(const struct nb_checker *checker,
                                const struct nb_capture_operation *operation)
{
    const char *why = check_destination(checker, operation);
    if (why != NULL)
        return why;
    const nb_wide plane = (nb_wide)operation->as.copy.width * operation->as.copy.height;
    const struct nb_content content = operation->as.copy.content;
    if (plane > UINT64_MAX || plane * operation->as.copy.depth != content.bytes)
        return "a content of another size than its rows";
    return nb_file_check_content(checker->file, content);
}

static const char *check_read(struct nb_checker *checker, const struct nb_capture_operation *operation)
{
    const struct nb_content content = operation->as.read.content;
    const struct extent extent = {operation->as.read.source,       operation->as.read.source_pitch,
                                  operation->as.read.source_slice, operation->as.read.width,
                                  operation->as.read.height,       operation->as.read.depth};
    if (!nb_span_is_text(checker->reader, operation->as.read.call))
        return nb_no_text;
    const char *why = check_extent(checker, &extent);
    if (why != NULL)
        return why;
    const nb_wide plane = (nb_wide)operation->as.read.width * operation->as.read.height;
    if (plane > UINT64_MAX || plane * operation->as.read.depth != content.bytes)
        return "a content of another size than its rows";
    if (checker->host_reads == NB_HOST_READS_MAX ||
        content.bytes > NB_HOST_READ_BYTES_MAX - checker->host_read_bytes)
        return "more copies to the host than 256, or than 64 KiB";
    checker->host_reads++;
    checker->host_read_bytes += content.bytes;
    return nb_file_check_content(checker->file, content);
}

static const char *check_event(struct nb_checker *checker, const struct nb_capture_operation *operation)
{
    struct nb_reader *reader = checker->reader;
    const uint32_t event = operation->as.event.event;
    if (event >= reader->operation_count)
        return "no such event";
    if (operation->kind == NB_OPERATION_EVENT_WAIT)
        return checker->recorded[event] ? NULL : "waits for an event that was not recorded before";
    checker->recorded[event] = 1;
    if (event >= reader->event_count)
        reader->event_count = event + 1;
    return NULL;
}

static const char *check_operation(struct nb_checker *checker, uint32_t index)
{
    struct nb_reader *reader = checker->reader;
    const struct nb_capture_operation *operation = &reader->operations[index];
    const char *why = check_place(reader, operation);
    if (why != NULL)
        return why;
    checker->has_nodes[operation->graph] = 1;
    if (operation->graph > reader->graph_count)
        reader->graph_count = operation->graph;
    switch ((enum nb_operation_kind)operation->kind) {
    case NB_OPERATION_KERNEL:
        return check_launch(reader, operation);
    case NB_OPERATION_MEMSET:
        return check_set(checker, operation);
    case NB_OPERATION_MEMCPY:
        return check_copy(checker, operation);
    case NB_OPERATION_MEMCPY_HTOD:
        return check_upload(checker, operation);
    case NB_OPERATION_MEMCPY_DTOH:
        return check_read(checker, operation);
    case NB_OPERATION_EVENT_RECORD:
    case NB_OPERATION_EVENT_WAIT:
        return check_event(checker, operation);
    case NB_OPERATION_SYNCHRONIZE:
    case NB_OPERATION_GRAPH_LAUNCH:
    case NB_OPERATION_EMPTY:
        break;
    }
    return NULL;
}

static const char *check_launched_graph(struct nb_checker *checker, uint32_t index)
{
    const struct nb_reader *reader = checker->reader;
    const struct nb_capture_operation *operation = &reader->operations[index];
    const uint32_t graph = operation->as.graph.graph;
    if (operation->kind != NB_OPERATION_GRAPH_LAUNCH)
        return NULL;
    return graph != 0 && graph <= reader->graph_count && checker->has_nodes[graph]
               ? NULL
               : "launches a graph that has no nodes";
}

static const char *check_relocation(struct nb_checker *checker, uint32_t index)
{
    const struct nb_reader *reader = checker->reader;
    const struct nb_capture_relocation *relocation = &reader->relocations[index];
    if (relocation->operation >= reader->operation_count)
        return "no such operation";
    if (relocation->global >= reader->global_count)
        return "no such global";
    const struct nb_capture_operation *launch = &reader->operations[relocation->operation];
    if (launch->kind != NB_OPERATION_KERNEL ||
        (uint64_t)relocation->offset + 8 > launch->as.launch.parameters.bytes)
        return "its operation has no 8 bytes of parameters there";
    return relocation->delta <= reader->globals[relocation->global].bytes ? NULL
                                                                          : "an offset beyond its global";
}

/* A capture has at most as many events and graphs as operations. */
uint64_t nb_check_operations_scratch(const struct nb_reader_file *file)
{
    return 2 * ((nb_tables_count(file, NB_CAPTURE_OPERATION) + 1 + 15) & ~UINT64_C(15));
}

int nb_check_operations(struct nb_checker *checker)
{
    const struct nb_reader *reader = checker->reader;
    const uint32_t count = reader->operation_count;
    checker->recorded = nb_file_take_scratch(checker->file, (uint64_t)count + 1);
    checker->has_nodes = nb_file_take_scratch(checker->file, (uint64_t)count + 1);
    if (checker->recorded == NULL || checker->has_nodes == NULL)
        return nb_error(checker->error, NB_REPLAY_CANNOT, "no memory for %u operations", count);
    int status = nb_check_each(checker, "operation", count, check_operation);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "operation", count, check_launched_graph);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "relocation", reader->relocation_count, check_relocation);
    return status;
}
