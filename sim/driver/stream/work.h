/* One operation for a stream: queued, or captured as a graph node, and run on a worker thread. */
#ifndef NEUTRINO_SIM_WORK_H
#define NEUTRINO_SIM_WORK_H

#include "driver/core/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_array;
struct sim_context;
struct sim_event;
struct sim_function;
struct sim_graph;
struct sim_graph_batch;
struct sim_graph_condition;
struct sim_graph_memory;
struct sim_graph_plan;
struct sim_stream;

enum sim_work_kind {
    SIM_WORK_NONE,
    SIM_WORK_LAUNCH,
    SIM_WORK_COPY,
    SIM_WORK_SET,
    SIM_WORK_HOST,
    SIM_WORK_CALLBACK,
    SIM_WORK_FREE,
    SIM_WORK_RECORD,
    SIM_WORK_WAIT,
    SIM_WORK_VALUE_WRITE,
    SIM_WORK_VALUE_WAIT,
    SIM_WORK_PLAN,
    SIM_WORK_CHILD,
    SIM_WORK_BATCH,
    SIM_WORK_CONDITION,
    SIM_WORK_GRAPH_ALLOCATE,
    SIM_WORK_GRAPH_FREE,
    SIM_WORK_KINDS
};

struct sim_launch {
    struct sim_function *function; /* owns a reference to its module */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    bool cooperative;
    unsigned char *parameters; /* owned */
};

/* Rows of `width` bytes, with pitch and slice in bytes. For an array, the address is inside its storage. */
struct sim_copy {
    uint64_t destination, source;
    size_t destination_pitch, destination_slice;
    size_t source_pitch, source_slice;
    size_t width, height, depth;
    CUmemorytype destination_type, source_type;
    struct sim_array *destination_array, *source_array; /* owned references; NULL: linear memory */
    void *staging; /* owned copy of a pageable source, which `source` then points to; NULL: not staged */
};

struct sim_set {
    uint64_t destination;
    size_t pitch;
    unsigned value;
    unsigned element_bytes;
    size_t width, height; /* elements, rows */
};

struct sim_work {
    enum sim_work_kind kind;
    union {
        struct sim_launch launch;
        struct sim_copy copy;
        struct sim_set set;
        struct {
            CUhostFn function;
            void *data;
        } host;
        struct {
            CUstreamCallback function;
            CUstream stream;
            void *data;
        } callback;
        uint64_t freed;
        struct sim_event *event; /* for RECORD: owned reference */
        struct {
            struct sim_stream *stream; /* owned reference */
            struct sim_event *event;   /* in a graph, in place of `stream`: owned reference */
            uint64_t number;
        } wait;
        struct {
            uint64_t address;
            uint64_t value;
            unsigned bytes;
            unsigned flags;
        } value;
        struct sim_graph_plan *plan;           /* owned reference */
        struct sim_graph *child;               /* owned reference */
        struct sim_graph_batch *batch;         /* owned */
        struct sim_graph_condition *condition; /* owned */
        struct sim_graph_memory *memory;       /* owned reference */
    };
};

/* The operations of streams and graphs on one kind of work. NULL: nothing to do. */
struct sim_work_class {
    bool runs_after_fault; /* for work that touches no memory: events, callbacks, frees */
    void (*run)(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                struct sim_work *work);
    /* `copy` holds the same bits as `work`: duplicate or retain what they own. `published`: graphs inside get
     * handles. */
    CUresult (*clone)(struct sim_work *copy, const struct sim_work *work, bool published);
    void (*clear)(struct sim_work *work);
    /* The work has become operation `number` of `stream`, which has not run it yet. */
    void (*place)(const struct sim_work *work, struct sim_stream *stream, uint64_t number);
    /* The work is about to become a node of `graph`. */
    CUresult (*enter_graph)(struct sim_work *work, const struct sim_graph *graph);
};

/* Each class is defined in the source file of its noun. */
extern const struct sim_work_class sim_launch_work, sim_copy_work, sim_memset_work, sim_host_work,
    sim_callback_work, sim_free_work, sim_record_work, sim_wait_work, sim_value_write_work,
    sim_value_wait_work, sim_plan_work, sim_child_work, sim_batch_work, sim_condition_work,
    sim_graph_allocate_work, sim_graph_free_work;

/* Run the work on the calling thread, as operation `number` of `stream`. Faults go to the context. */
void sim_work_run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                  struct sim_work *work);

/* A copy that owns everything it points to. On failure `copy` owns nothing. */
CUresult sim_work_clone(struct sim_work *copy, const struct sim_work *work, bool published);

/* Release what the work owns. */
void sim_work_clear(struct sim_work *work);

void sim_work_place(const struct sim_work *work, struct sim_stream *stream, uint64_t number);
CUresult sim_work_enter_graph(struct sim_work *work, const struct sim_graph *graph);

#endif
