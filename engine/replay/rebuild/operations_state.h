/* The part of struct nb_replay that belongs to operations.h. */
#ifndef NEUTRINO_ENGINE_OPERATIONS_STATE_H
#define NEUTRINO_ENGINE_OPERATIONS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire/capture_format.h"
#include "replay/base/driver.h"

/* A launch, of a step or of a graph's node. */
struct nb_launch_call {
    CUlaunchConfig config; /* without the stream */
    CUfunction function;
    void *parameters;
    size_t parameter_bytes;
    bool settings; /* the kernel's attributes must be set first */
};

struct nb_step {
    uint32_t index; /* of the operation */
    CUstream stream;
    union {
        struct nb_launch_call launch;
        CUdeviceptr set;
        CUDA_MEMCPY3D copy;
        CUevent event;
        CUgraphExec graph;
    } as;
};

struct nb_program_graph {
    CUgraph graph;
    CUgraphExec executable;
    unsigned long long flags; /* of its instantiation */
};

/* The region's operations for one copy of the code. */
struct nb_program {
    struct nb_step *steps;
    uint32_t step_count;
    struct nb_program_graph *graphs; /* graph n is at n - 1 */
    uint8_t *parameters;             /* of all launches, with the addresses that globals have now */
    CUlaunchAttribute *attributes;
};

struct nb_operations {
    struct nb_program *programs; /* one per copy of the code */
    uint32_t program_count;
    uint64_t *places; /* by operation: a launch's offset in `parameters`, an upload's in `uploads` */
    uint64_t *attribute_places; /* by operation: a launch's index in `attributes` */
    uint64_t parameter_bytes, attribute_count, upload_bytes;
    uint8_t *uploads; /* pinned copies of host data: a copy from pageable memory would wait for the device */
    uint8_t *uploads_kept; /* with strict, their recorded content: kernels can write pinned memory */
    bool *begun;           /* by stream, while a program is built: the stream has work */
    uint32_t dropped_windows, dropped_starts; /* launch attributes that strict drops */
    uint32_t queued;                          /* driver operations of one sample, forks and joins included */
};

#endif
