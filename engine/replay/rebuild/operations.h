/* Recorded operations as a list of prepared driver calls, so that a sample only makes these calls. */
#ifndef NEUTRINO_ENGINE_OPERATIONS_H
#define NEUTRINO_ENGINE_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/rebuild/operations_state.h"

struct nb_replay;

int nb_operations_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* How the host queues the region. */
enum nb_pace {
    NB_PACE_QUEUED, /* all operations, without waiting */
    NB_PACE_STEPS,  /* wait after each operation, so that an error names it */
    NB_PACE_READS   /* after a copy to the host wait for all streams, and compare its bytes */
};

int nb_operations_run(struct nb_replay *replay, uint32_t copy, enum nb_pace pace)
    __attribute__((visibility("hidden")));

/* Compare what the last run copied to the host with the recorded bytes. NB_REPLAY_OTHER_READ if they differ.
 */
int nb_operations_check_reads(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Restore the recorded content of host uploads. */
void nb_operations_forget(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_operations_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* The calls of one operation, for a step or a node (prepare_operation.c). */
int nb_launch_prepare(struct nb_replay *replay, uint32_t copy, uint32_t index, struct nb_launch_call *call)
    __attribute__((visibility("hidden")));
int nb_copy_prepare(struct nb_replay *replay, uint32_t copy, uint32_t index, CUDA_MEMCPY3D *call)
    __attribute__((visibility("hidden")));
int nb_set_prepare(struct nb_replay *replay, uint32_t copy, uint32_t index, CUdeviceptr *address)
    __attribute__((visibility("hidden")));

/* Whether the operation moves no bytes. */
bool nb_operation_is_empty(const struct nb_capture_operation *operation)
    __attribute__((visibility("hidden")));

/* "operation 3 (kernel scale)" */
void nb_operation_text(const struct nb_replay *replay, uint32_t index, char *into, size_t room)
    __attribute__((visibility("hidden")));

/* Build, instantiate and upload all graphs of a copy of the code (graphs.c). */
int nb_graphs_build(struct nb_replay *replay, uint32_t copy) __attribute__((visibility("hidden")));
void nb_graphs_close(struct nb_replay *replay, struct nb_program *program)
    __attribute__((visibility("hidden")));

#endif
