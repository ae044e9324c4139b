/* A graph's nodes and edges, written to the recording with the graphs that it contains laid flat. */
#ifndef NEUTRINO_CUDA_GRAPH_WRITE_H
#define NEUTRINO_CUDA_GRAPH_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "cuda/graph/description.h"

/* As graph `number` of the recording. A node that no replay can repeat is refused, and written as one without
 * work. False, and a refusal written, without memory. */
bool nb_graph_write(const struct nb_call *call, const struct nb_graph_description *description,
                    uint32_t number) __attribute__((visibility("hidden")));

#endif
