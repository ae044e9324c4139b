/* Writes a graph's nodes and edges to the capture, with contained graphs flattened. */
#ifndef NEUTRINO_CUDA_GRAPH_WRITE_H
#define NEUTRINO_CUDA_GRAPH_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "cuda/graph/description.h"

/* Write the graph as number `number` of the capture. A node that cannot be replayed is refused and written
 * as a node without work. False, with a refusal, if memory runs out. */
bool nb_graph_write(const struct nb_call *call, const struct nb_graph_description *description,
                    uint32_t number) __attribute__((visibility("hidden")));

#endif
