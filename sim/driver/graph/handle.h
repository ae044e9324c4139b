/* Handles of conditional nodes, and their values. */
#ifndef NEUTRINO_SIM_GRAPH_HANDLE_H
#define NEUTRINO_SIM_GRAPH_HANDLE_H

#include "driver/core/api.h"
#include "driver/core/object.h"

#include <stdbool.h>
#include <stdint.h>

/* A word of device memory. The handle is its address, so that a kernel can set the value by a plain store. */
struct sim_condition_value {
    struct sim_object object; /* owned by handles of a graph and of its clones, and by nodes */
    uint64_t address;
    struct sim_context *context; /* compared by handle */
    unsigned initial;            /* at the beginning of a launch */
    bool has_initial;
    bool used; /* a node uses the handle */
};

/* A graph's list of handles. */
struct sim_graph_handle {
    struct sim_graph_handle *next;
    struct sim_condition_value *value;
};

/* A value of 0 in new device memory. NULL: out of memory. */
struct sim_condition_value *sim_condition_value_make(void);

CUresult sim_graph_handles_add(struct sim_graph_handle **handles, struct sim_condition_value *value);
CUresult sim_graph_handles_copy(struct sim_graph_handle **to, const struct sim_graph_handle *from);
void sim_graph_handles_clear(struct sim_graph_handle **handles);

/* Whether a node uses each of the handles. */
bool sim_graph_handles_are_used(const struct sim_graph_handle *handles);

/* The value for a handle in the list. NULL: not in the list. */
struct sim_condition_value *sim_graph_handles_find(const struct sim_graph_handle *handles,
                                                   CUdeviceptr handle);

_Atomic uint32_t *sim_condition_word(const struct sim_condition_value *value);

#endif
