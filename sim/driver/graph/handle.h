/* Handles of conditional nodes, and the values behind them. */
#ifndef NEUTRINO_SIM_GRAPH_HANDLE_H
#define NEUTRINO_SIM_GRAPH_HANDLE_H

#include "driver/core/api.h"
#include "driver/core/object.h"

#include <stdbool.h>
#include <stdint.h>

/* A word of device memory. The handle is the word's address, so that a kernel which knows the handle sets it
 * by a plain store. */
struct sim_condition_value {
    struct sim_object object; /* handles of a graph, its clones, and nodes hold references */
    uint64_t address;
    struct sim_context *context; /* to be compared */
    unsigned initial;            /* at the beginning of a launch */
    bool has_initial;
    bool used; /* by a node */
};

/* The list that a graph owns. */
struct sim_graph_handle {
    struct sim_graph_handle *next;
    struct sim_condition_value *value;
};

/* A value of 0 with new memory. NULL: none left. */
struct sim_condition_value *sim_condition_value_make(void);

CUresult sim_graph_handles_add(struct sim_graph_handle **handles, struct sim_condition_value *value);
CUresult sim_graph_handles_copy(struct sim_graph_handle **to, const struct sim_graph_handle *from);
void sim_graph_handles_clear(struct sim_graph_handle **handles);

/* Whether each of them belongs to a node. */
bool sim_graph_handles_are_used(const struct sim_graph_handle *handles);

/* The value that a handle of the list names. NULL: none. */
struct sim_condition_value *sim_graph_handles_find(const struct sim_graph_handle *handles,
                                                   CUdeviceptr handle);

_Atomic uint32_t *sim_condition_word(const struct sim_condition_value *value);

#endif
