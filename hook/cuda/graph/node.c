#include "cuda/graph/node.h"

#include <stdlib.h>
#include <string.h>

#include "core/driver/slots.h"
#include "core/process/call.h"
#include "real.h"
#include "surface.h"

CUgraphNode *nb_graph_nodes(CUgraph graph, size_t *count)
{
    *count = 0;
    if (NB_REAL(cuGraphGetNodes)(graph, NULL, count) != CUDA_SUCCESS) {
        *count = SIZE_MAX;
        return NULL;
    }
    CUgraphNode *nodes = *count != 0 ? calloc(*count, sizeof(CUgraphNode)) : NULL;
    if (nodes != NULL && NB_REAL(cuGraphGetNodes)(graph, nodes, count) != CUDA_SUCCESS) {
        free(nodes);
        nodes = NULL;
    }
    return nodes;
}

CUresult nb_graph_kernel_parameters(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters)
{
    *parameters = (CUDA_KERNEL_NODE_PARAMS){0};
    if (NB_HAS(cuGraphKernelNodeGetParams_v2))
        return NB_REAL(cuGraphKernelNodeGetParams_v2)(node, parameters);
    CUDA_KERNEL_NODE_PARAMS_v1 older;
    const CUresult result = NB_REAL(cuGraphKernelNodeGetParams)(node, &older);
    if (result == CUDA_SUCCESS)
        memcpy(parameters, &older, sizeof older); /* v2 begins with the fields of v1 */
    return result;
}

static CUresult query_edges(CUgraph graph, struct nb_graph_edges *edges)
{
    if (NB_HAS(cuGraphGetEdges_v2))
        return NB_REAL(cuGraphGetEdges_v2)(graph, edges->from, edges->to, edges->data, &edges->count);
    return NB_REAL(cuGraphGetEdges)(graph, edges->from, edges->to, &edges->count);
}

bool nb_graph_edges(CUgraph graph, struct nb_graph_edges *edges)
{
    *edges = (struct nb_graph_edges){NULL, NULL, NULL, 0};
    if (query_edges(graph, edges) != CUDA_SUCCESS)
        return false;
    if (edges->count == 0)
        return true;
    edges->from = calloc(edges->count, sizeof *edges->from);
    edges->to = calloc(edges->count, sizeof *edges->to);
    edges->data = calloc(edges->count, sizeof *edges->data);
    return edges->from != NULL && edges->to != NULL && edges->data != NULL &&
           query_edges(graph, edges) == CUDA_SUCCESS;
}

void nb_graph_edges_free(struct nb_graph_edges *edges)
{
    free(edges->from);
    free(edges->to);
    free(edges->data);
}
