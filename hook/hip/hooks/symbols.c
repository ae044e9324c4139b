/* Copies to and from globals that the program names by a host address. They are recorded as copies to the
 * global's device address. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/region/region.h"
#include "cuda/capture/copy.h"
#include "cuda/capture/operation.h"
#include "cuda/capture/refuse.h"
#include "cuda/graph/capture.h"
#include "hip/driver/hip.h"
#include "hip/driver/shapes.h"
#include "hip/hooks/same.h"
#include "hip/hooks/symbol.h"
#include "real.h"
#include "special.h"

/* The device address at `offset`, or 0 if the driver does not know the global. Call this inside a hook. */
static CUdeviceptr address_of(const struct nb_call *call, const void *symbol, size_t offset)
{
    void *address = NULL;
    if (nb_hip_result(HIP(hipGetSymbolAddress)(&address, symbol)) != CUDA_SUCCESS)
        return 0;
    nb_hip_symbol_used(call, symbol);
    return nb_address(address) + offset;
}

static void record(const struct nb_call *call, CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                   hipStream_t stream, bool host_waits)
{
    if (destination != 0 && source != 0)
        nb_capture_copy(call, nb_copy_of_bytes(destination, source, bytes, (CUstream)stream, host_waits));
    else
        nb_capture_refuse(call, "copies to or from a global whose address the driver does not report");
}

hipError_t nb_wrap_when_recording_hip_copy_to_symbol(const struct nb_call *call, nb_hipMemcpyToSymbol_t real,
                                                     const void *symbol, const void *src, size_t sizeBytes,
                                                     size_t offset, hipMemcpyKind kind)
{
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(symbol, src, sizeBytes, offset, kind);
    if (nb_capture_is_accepted(announced, (CUresult)result))
        record(call, address_of(call, symbol, offset), nb_address(src), sizeBytes, NULL, true);
    return result;
}

hipError_t nb_wrap_when_recording_hip_copy_to_symbol_async(const struct nb_call *call,
                                                           nb_hipMemcpyToSymbolAsync_t real,
                                                           const void *symbol, const void *src,
                                                           size_t sizeBytes, size_t offset,
                                                           hipMemcpyKind kind, hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(symbol, src, sizeBytes, offset, kind, stream);
    if (nb_capture_is_accepted(announced, (CUresult)result))
        record(call, address_of(call, symbol, offset), nb_address(src), sizeBytes, stream, false);
    return result;
}

hipError_t nb_wrap_when_recording_hip_copy_from_symbol(const struct nb_call *call,
                                                       nb_hipMemcpyFromSymbol_t real, void *dst,
                                                       const void *symbol, size_t sizeBytes, size_t offset,
                                                       hipMemcpyKind kind)
{
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(dst, symbol, sizeBytes, offset, kind);
    if (nb_capture_is_accepted(announced, (CUresult)result))
        record(call, nb_address(dst), address_of(call, symbol, offset), sizeBytes, NULL, true);
    return result;
}

hipError_t nb_wrap_when_recording_hip_copy_from_symbol_async(const struct nb_call *call,
                                                             nb_hipMemcpyFromSymbolAsync_t real, void *dst,
                                                             const void *symbol, size_t sizeBytes,
                                                             size_t offset, hipMemcpyKind kind,
                                                             hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(dst, symbol, sizeBytes, offset, kind, stream);
    if (nb_capture_is_accepted(announced, (CUresult)result))
        record(call, nb_address(dst), address_of(call, symbol, offset), sizeBytes, stream, false);
    return result;
}

/* ---- copies of executable graphs ----------------------------------------------------------------------- */

/* Unresolvable symbol: forget the graph, so that launching it is refused. */
static void node_changed(hipGraphExec_t exec, hipGraphNode_t node, CUdeviceptr destination,
                         CUdeviceptr source, size_t bytes)
{
    const CUDA_MEMCPY3D copy =
        nb_shape_of_bytes((void *)(uintptr_t)destination, (const void *)(uintptr_t)source, bytes);
    if (destination != 0 && source != 0)
        nb_capture_change_graph_copy((CUgraphExec)exec, (CUgraphNode)node, &copy);
    else
        nb_capture_destroy_graph((CUgraphExec)exec);
}

void nb_post_hip_graph_exec_copy_node_to_symbol(const struct nb_call *call, hipError_t result,
                                                hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                const void *symbol, const void *src, size_t count,
                                                size_t offset, hipMemcpyKind kind)
{
    (void)kind;
    if (result != hipSuccess || !nb_capture_enabled() || !nb_hook_enter(call))
        return;
    node_changed(hGraphExec, node, address_of(call, symbol, offset), nb_address(src), count);
    nb_hook_leave(call);
}

void nb_post_hip_graph_exec_copy_node_from_symbol(const struct nb_call *call, hipError_t result,
                                                  hipGraphExec_t hGraphExec, hipGraphNode_t node, void *dst,
                                                  const void *symbol, size_t count, size_t offset,
                                                  hipMemcpyKind kind)
{
    (void)kind;
    if (result != hipSuccess || !nb_capture_enabled() || !nb_hook_enter(call))
        return;
    node_changed(hGraphExec, node, nb_address(dst), address_of(call, symbol, offset), count);
    nb_hook_leave(call);
}
