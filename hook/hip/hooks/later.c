/* Hooks of functions that headers after 5.2 have. Their first versions are those of the exports
 * (hip_hcc.map.in). */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "core/region/region.h"
#include "cuda/graph/capture.h"
#include "hip/driver/shapes.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"

#if HIP_VERSION >= 50300000
void nb_after_hip_graph_node_enabled(const struct nb_call *call, hipError_t result, hipGraphExec_t hGraphExec,
                                     hipGraphNode_t hNode, unsigned int isEnabled)
{
    nb_after_graph_node_set_enabled(call, (CUresult)result, (CUgraphExec)hGraphExec, (CUgraphNode)hNode,
                                    isEnabled);
}
#endif

#if HIP_VERSION >= 60100000
void nb_after_hip_begin_capture_to_graph(const struct nb_call *call, hipError_t result, hipStream_t stream,
                                         hipGraph_t graph, const hipGraphNode_t *dependencies,
                                         const hipGraphEdgeData *dependencyData, size_t numDependencies,
                                         hipStreamCaptureMode mode)
{
    (void)graph, (void)dependencies, (void)dependencyData, (void)numDependencies, (void)mode;
    nb_after_begin_capture(call, (CUresult)result, (CUstream)stream);
}

void nb_after_hip_graph_instantiate_params(const struct nb_call *call, hipError_t result,
                                           hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                           hipGraphInstantiateParams *instantiateParams)
{
    if (instantiateParams != NULL)
        nb_after_graph_instantiate_flags(call, (CUresult)result, (CUgraphExec *)pGraphExec, (CUgraph)graph,
                                         instantiateParams->flags);
}
#endif

#if HIP_VERSION >= 60200000
void nb_after_hip_graph_exec_driver_copy_node(const struct nb_call *call, hipError_t result,
                                              hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                              const HIP_MEMCPY3D *copyParams, hipCtx_t ctx)
{
    CUDA_MEMCPY3D copy;
    (void)ctx;
    if (result == hipSuccess && copyParams != NULL && nb_shape_of_driver_volume(copyParams, &copy))
        nb_after_graph_exec_memcpy_node_set_params(call, CUDA_SUCCESS, (CUgraphExec)hGraphExec,
                                                   (CUgraphNode)hNode, &copy, NULL);
}

void nb_after_hip_graph_exec_driver_set_node(const struct nb_call *call, hipError_t result,
                                             hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                             const hipMemsetParams *memsetParams, hipCtx_t ctx)
{
    (void)ctx;
    nb_after_hip_graph_exec_set_node(call, result, hGraphExec, hNode, memsetParams);
}

/* What kind of node it is, and what was changed of it, is not followed: of such a graph nothing is known. */
void nb_after_hip_graph_exec_any_node(const struct nb_call *call, hipError_t result, hipGraphExec_t graphExec,
                                      hipGraphNode_t node, hipGraphNodeParams *nodeParams)
{
    (void)node, (void)nodeParams;
    if (result != hipSuccess || !nb_region_wanted() || !nb_hook_enter(call))
        return;
    nb_capture_graph_destroyed((CUgraphExec)graphExec);
    nb_hook_leave(call);
}
#endif

#if HIP_VERSION >= 60400000
hipError_t nb_through_hip_event_record_flags(const struct nb_call *call, nb_hipEventRecordWithFlags_t real,
                                             hipEvent_t event, hipStream_t stream, unsigned int flags)
{
    return (hipError_t)nb_through_event_record_flags(call, NB_SAME(cuEventRecordWithFlags, real),
                                                     (CUevent)event, (CUstream)stream, flags);
}
#endif

#if HIP_VERSION >= 70100000
hipError_t nb_through_hip_set_2d_8(const struct nb_call *call, nb_hipMemsetD2D8_t real, hipDeviceptr_t dst,
                                   size_t dstPitch, unsigned char value, size_t width, size_t height)
{
    return (hipError_t)nb_through_set_2d_8(call, NB_SAME(cuMemsetD2D8_v2, real), nb_address(dst), dstPitch,
                                           value, width, height);
}

hipError_t nb_through_hip_set_2d_16(const struct nb_call *call, nb_hipMemsetD2D16_t real, hipDeviceptr_t dst,
                                    size_t dstPitch, unsigned short value, size_t width, size_t height)
{
    return (hipError_t)nb_through_set_2d_16(call, NB_SAME(cuMemsetD2D16_v2, real), nb_address(dst), dstPitch,
                                            value, width, height);
}

hipError_t nb_through_hip_set_2d_32(const struct nb_call *call, nb_hipMemsetD2D32_t real, hipDeviceptr_t dst,
                                    size_t dstPitch, unsigned int value, size_t width, size_t height)
{
    return (hipError_t)nb_through_set_2d_32(call, NB_SAME(cuMemsetD2D32_v2, real), nb_address(dst), dstPitch,
                                            value, width, height);
}

hipError_t nb_through_hip_set_2d_8_async(const struct nb_call *call, nb_hipMemsetD2D8Async_t real,
                                         hipDeviceptr_t dst, size_t dstPitch, unsigned char value,
                                         size_t width, size_t height, hipStream_t stream)
{
    return (hipError_t)nb_through_set_2d_8_async(call, NB_SAME(cuMemsetD2D8Async, real), nb_address(dst),
                                                 dstPitch, value, width, height, (CUstream)stream);
}

hipError_t nb_through_hip_set_2d_16_async(const struct nb_call *call, nb_hipMemsetD2D16Async_t real,
                                          hipDeviceptr_t dst, size_t dstPitch, unsigned short value,
                                          size_t width, size_t height, hipStream_t stream)
{
    return (hipError_t)nb_through_set_2d_16_async(call, NB_SAME(cuMemsetD2D16Async, real), nb_address(dst),
                                                  dstPitch, value, width, height, (CUstream)stream);
}

hipError_t nb_through_hip_set_2d_32_async(const struct nb_call *call, nb_hipMemsetD2D32Async_t real,
                                          hipDeviceptr_t dst, size_t dstPitch, unsigned int value,
                                          size_t width, size_t height, hipStream_t stream)
{
    return (hipError_t)nb_through_set_2d_32_async(call, NB_SAME(cuMemsetD2D32Async, real), nb_address(dst),
                                                  dstPitch, value, width, height, (CUstream)stream);
}
#endif
