/* Stream capture. */
#include "runtime/cudart.h"

FORWARD_STREAM(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
               cuStreamBeginCapture, stream, (CUstreamCaptureMode)mode)
FORWARD_STREAM(cudaStreamBeginCaptureToGraph,
               (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                enum cudaStreamCaptureMode mode),
               cuStreamBeginCaptureToGraph, stream, graph, dependencies,
               (const CUgraphEdgeData *)(const void *)dependencyData, numDependencies,
               (CUstreamCaptureMode)mode)
FORWARD_STREAM(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *pGraph), cuStreamEndCapture, stream,
               pGraph)
FORWARD_STREAM(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus),
               cuStreamIsCapturing, stream, (CUstreamCaptureStatus *)(void *)pCaptureStatus)
FORWARD_STREAM(cudaStreamGetCaptureInfo,
               (cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                unsigned long long *id_out, cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
                const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out),
               cuStreamGetCaptureInfo, stream, (CUstreamCaptureStatus *)(void *)captureStatus_out,
               (cuuint64_t *)id_out, graph_out, dependencies_out,
               (const CUgraphEdgeData **)(void *)edgeData_out, numDependencies_out)
FORWARD_STREAM(cudaStreamUpdateCaptureDependencies,
               (cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *dependencyData,
                size_t numDependencies, unsigned int flags),
               cuStreamUpdateCaptureDependencies, stream, dependencies,
               (const CUgraphEdgeData *)(const void *)dependencyData, numDependencies, flags)
FORWARD(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode),
        cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *)(void *)mode)
