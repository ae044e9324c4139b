/* cuGraphDebugDotPrint. Shapes and wording are those of driver 580. */
#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/graph/attribute.h"
#include "driver/graph/batch.h"
#include "driver/graph/condition.h"
#include "driver/graph/memory.h"
#include "driver/graph/node.h"
#include "driver/graph/work.h"

#include <stdio.h>
#include <string.h>

#define CONDITIONAL_PARAMS (1u << 15) /* of CUgraphDebugDot_flags; headers before 12.3 lack it */

struct print {
    FILE *file;
    unsigned flags;
};

static bool wants(const struct print *print, unsigned flag)
{
    return (print->flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0;
}

static void print_handle(const struct print *print, const struct sim_graph_node *node)
{
    if (wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(print->file, "node handle: 0x%016llX\n", (unsigned long long)(uintptr_t)node);
}

/* A box with one word and, on request, details of the node. */
static void print_box(const struct print *print, const struct sim_graph_node *node, const char *what)
{
    fprintf(print->file, "[style=\"solid\" shape=\"rectangle\" label=\"%u\n%s\n", node->id, what);
    print_handle(print, node);
}

static void print_line(const struct print *print, unsigned flag, const char *name, const void *value)
{
    if (wants(print, flag))
        fprintf(print->file, "%s: 0x%016llX\n", name, (unsigned long long)(uintptr_t)value);
}

static void print_attributes(const struct print *print, const struct sim_graph_node *node)
{
    CUlaunchAttributeValue window;
    CUlaunchAttributeValue priority;
    (void)sim_graph_attribute_get(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &window);
    (void)sim_graph_attribute_get(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority);
    const CUaccessPolicyWindow *policy = &window.accessPolicyWindow;
    static const char letters[] = "NSP";
    fprintf(
        print->file,
        "| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | {0x%016llX | %zu "
        "| %f | %c | %c}}\n| {cooperative | %d}\n| {priority | %d}\n",
        (unsigned long long)(uintptr_t)policy->base_ptr, policy->num_bytes, (double)policy->hitRatio,
        letters[policy->hitProp % 3u], letters[policy->missProp % 3u], node->work.launch.cooperative,
        priority.priority);
}

static void print_kernel(const struct print *print, const struct sim_graph_node *node)
{
    const struct sim_launch *launch = &node->work.launch;
    const char *name = ptx_kernel_name(launch->function->ptx);
    const bool parameters = wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS);
    const bool attributes = wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES);
    if (!parameters && !attributes) {
        fprintf(print->file, "[style=\"bold\" shape=\"octagon\" label=\"%u\n%s\n", node->id, name);
        print_handle(print, node);
        print_line(print, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES, "func handle", launch->function);
        fputs("\"];\n\n", print->file);
        return;
    }
    const unsigned long long blocks = (unsigned long long)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const unsigned threads = launch->block[0] * launch->block[1] * launch->block[2];
    fprintf(
        print->file,
        "[style=\"bold\" shape=\"record\" label=\"{KERNEL\n| {ID | %u | %s\\<\\<\\<%llu,%u,%u\\>\\>\\>}\n",
        node->id, name, blocks, threads, launch->shared_bytes);
    if (wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(print->file, "| {{node handle | func handle} | {0x%016llX | 0x%016llX}}\n",
                (unsigned long long)(uintptr_t)node, (unsigned long long)(uintptr_t)launch->function);
    if (attributes)
        print_attributes(print, node);
    fputs("}\"];\n\n", print->file);
}

static void print_set(const struct print *print, const struct sim_graph_node *node)
{
    const struct sim_set *set = &node->work.set;
    if (wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS)) {
        fprintf(
            print->file,
            "[style=\"solid\" shape=\"record\" label=\"{MEMSET\n| {{ID | dptr | pitch | value | elementSize "
            "| width | height} | {%u | 0x%016llX | %zu | %u | %u | %zu | %zu}}}\"];\n\n",
            node->id, (unsigned long long)set->destination, set->pitch, set->value, set->element_bytes,
            set->width, set->height);
        return;
    }
    fprintf(print->file, "[style=\"solid\" shape=\"invtrapezium\"label=\"%u\nMEMSET\n", node->id);
    print_handle(print, node);
    fprintf(print->file, "(%u,%zu)\n\"];\n\n", set->element_bytes, set->width);
}

static char letter_of(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_HOST ? 'H' : type == CU_MEMORYTYPE_ARRAY ? 'A' : 'D';
}

static void print_side(const struct print *print, CUmemorytype type, const void *host, CUdeviceptr device,
                       size_t pitch, size_t height)
{
    static const char *const names[] = {"UNKNOWN", "HOST", "DEVICE", "ARRAY", "UNIFIED"};
    fprintf(print->file, "{%s | 0x%016llX | 0x%016llX | %zu | %zu}", names[(unsigned)type % 5u],
            (unsigned long long)(uintptr_t)host, (unsigned long long)device, pitch, height);
}

static void print_copy(const struct print *print, const struct sim_graph_node *node)
{
    CUDA_MEMCPY3D p;
    const struct sim_copy *copy = &node->work.copy;
    sim_graph_copy_describe(node, &p);
    if (!wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS)) {
        fprintf(print->file, "[style=\"solid\" shape=\"trapezium\"label=\"%u\nMEMCPY\n", node->id);
        print_handle(print, node);
        fprintf(print->file, "(%cto%c,%zu)\n\"];\n\n", letter_of(copy->source_type),
                letter_of(copy->destination_type), copy->width);
        return;
    }
    fprintf(print->file,
            "[style=\"solid\" shape=\"record\" label=\"{\nMEMCPY\n| {{ID | node handle} | {%u | 0x%016llX}}\n"
            "| {{src | dst} | {MemoryType | Host | Device | Pitch | Height} | ",
            node->id, (unsigned long long)(uintptr_t)node);
    print_side(print, p.srcMemoryType, p.srcHost, p.srcDevice, p.srcPitch, p.srcHeight);
    fputs(" | ", print->file);
    print_side(print, p.dstMemoryType, p.dstHost, p.dstDevice, p.dstPitch, p.dstHeight);
    fprintf(print->file, "}\n| {Extent | {WidthInBytes | Height | Depth} | {%zu | %zu | %zu}}\n}\"];\n\n",
            p.WidthInBytes, p.Height, p.Depth);
}

static const char *operation_name(CUstreamBatchMemOpType type)
{
    switch (type) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return "WAIT_VALUE_32";
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return "WRITE_VALUE_32";
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return "WAIT_VALUE_64";
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return "WRITE_VALUE_64";
    default:
        return "BARRIER";
    }
}

static void print_batch(const struct print *print, const struct sim_graph_node *node)
{
    const struct sim_graph_batch *batch = node->work.batch;
    print_box(print, node, "BATCH_MEM_OP");
    for (unsigned i = 0; i < batch->count && wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS);
         i++)
        fprintf(print->file, "%s 0x%016llX 0x%llX\n", operation_name(batch->operations[i].operation),
                (unsigned long long)batch->operations[i].waitValue.address,
                (unsigned long long)batch->operations[i].waitValue.value64);
    fputs("\"];\n\n", print->file);
}

static void print_condition(const struct print *print, const struct sim_graph_node *node)
{
    static const char *const types[] = {"IF", "WHILE", "SWITCH"};
    const struct sim_graph_condition *condition = node->work.condition;
    fprintf(print->file, "[style=\"bold\" shape=\"record\" label=\"{\nCONDITIONAL\n| {ID | %u}\n", node->id);
    if (wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(print->file, "| {node handle| 0x%016llX}\n", (unsigned long long)(uintptr_t)node);
    if (wants(print, CONDITIONAL_PARAMS))
        fprintf(print->file, "| {Conditional Handle|%llu}\n",
                (unsigned long long)sim_graph_condition_handle(condition));
    fprintf(print->file, "| {Conditional Type| %s}\n", types[condition->type]);
    for (unsigned i = 0; i < condition->size; i++) {
        if (condition->type == SIM_CONDITION_SWITCH)
            fprintf(print->file, "| {%u|graph_%u}\n", i, condition->bodies[i]->id);
        else
            fprintf(print->file, "| {%s|graph_%u}\n", i == 0 ? "True" : "False", condition->bodies[i]->id);
    }
    fputs("}\n\"];\n\n", print->file);
}

static void print_memory(const struct print *print, const struct sim_graph_node *node)
{
    const bool allocates = node->work.kind == SIM_WORK_GRAPH_ALLOCATE;
    const struct sim_graph_memory *memory = node->work.memory;
    print_box(print, node, allocates ? "MEM_ALLOC" : "MEM_FREE");
    if (wants(print, allocates ? CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS
                               : CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS)) {
        if (allocates)
            fprintf(print->file, "bytesize: %zu\n", sim_graph_memory_bytes(memory));
        fprintf(print->file, "dptr: 0x%016llX\n", (unsigned long long)sim_graph_memory_address(memory));
    }
    fputs("\"];\n\n", print->file);
}

static void print_other(const struct print *print, const struct sim_graph_node *node)
{
    const struct sim_work *work = &node->work;
    char child[32];
    switch (work->kind) {
    case SIM_WORK_HOST:
        print_box(print, node, "HOST");
        if (wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
            fprintf(print->file, "fn: 0x%016llX\n", (unsigned long long)(uintptr_t)work->host.function);
        print_line(print, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS, "userData", work->host.data);
        break;
    case SIM_WORK_RECORD:
    case SIM_WORK_WAIT:
        print_box(print, node, work->kind == SIM_WORK_RECORD ? "EVENT_RECORD" : "EVENT_WAIT");
        print_line(print, CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS, "event", sim_graph_event_of(work));
        break;
    case SIM_WORK_CHILD:
        (void)snprintf(child, sizeof child, "graph_%u", work->child->id);
        print_box(print, node, child);
        break;
    default:
        print_box(print, node, "EMPTY");
        break;
    }
    fputs("\"];\n\n", print->file);
}

static void print_node(const struct print *print, const struct sim_graph_node *node)
{
    fprintf(print->file, "\"graph_%u_node_%u\"", node->graph->id, node->id);
    switch (node->work.kind) {
    case SIM_WORK_LAUNCH:
        print_kernel(print, node);
        break;
    case SIM_WORK_SET:
        print_set(print, node);
        break;
    case SIM_WORK_COPY:
        print_copy(print, node);
        break;
    case SIM_WORK_BATCH:
        print_batch(print, node);
        break;
    case SIM_WORK_CONDITION:
        print_condition(print, node);
        break;
    case SIM_WORK_GRAPH_ALLOCATE:
    case SIM_WORK_GRAPH_FREE:
        print_memory(print, node);
        break;
    default:
        print_other(print, node);
        break;
    }
}

static void print_edges(const struct print *print, const struct sim_graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct sim_graph_node *node = graph->nodes[i];
        for (size_t d = 0; d < node->dependency_count; d++) {
            fprintf(print->file, "\"graph_%u_node_%u\" -> \"graph_%u_node_%u\"", graph->id,
                    node->dependencies[d]->id, graph->id, node->id);
            if (wants(print, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO))
                fprintf(print->file, " [headlabel=%zu]", d);
            fputs(";\n", print->file);
        }
    }
}

static void print_graph(const struct print *print, const struct sim_graph *graph)
{
    fprintf(print->file, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n", graph->id,
            graph->id);
    for (size_t i = 0; i < graph->node_count; i++)
        print_node(print, graph->nodes[i]);
    print_edges(print, graph);
    fputs("}\n", print->file);
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t g = 0; g < sim_graph_inner_count(&graph->nodes[i]->work); g++)
            print_graph(print, sim_graph_inner(&graph->nodes[i]->work, g));
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = sim_graph_find(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct print print = {.file = fopen(path, "we"), .flags = flags};
    if (print.file == NULL)
        return CUDA_ERROR_OPERATING_SYSTEM;
    fputs("digraph dot {\n", print.file);
    print_graph(&print, graph);
    fputs("}\n", print.file);
    const bool failed = ferror(print.file) != 0;
    return fclose(print.file) != 0 || failed ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}
