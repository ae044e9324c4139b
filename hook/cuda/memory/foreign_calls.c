/* Hooks of calls that return memory which no capture contains (foreign.h). */
#include <cuda.h>

#include "core/driver/slots.h"
#include "core/ring/clock.h"
#include "cuda/kernel/handle.h"
#include "cuda/memory/foreign.h"
#include "cuda/memory/tracked.h"
#include "real.h"
#include "special.h"
#include "surface.h"

void nb_post_alloc_managed(const struct nb_call *call, CUresult result, CUdeviceptr *dptr, size_t bytesize,
                           unsigned int flags)
{
    (void)call, (void)flags;
    if (nb_memory_is_tracked() && result == CUDA_SUCCESS && dptr != NULL)
        nb_foreign_add(*dptr, bytesize, "managed memory");
}

void nb_post_alloc_host(const struct nb_call *call, CUresult result, void **pp, size_t bytesize)
{
    (void)call;
    if (nb_memory_is_tracked() && result == CUDA_SUCCESS && pp != NULL)
        nb_foreign_add_host(nb_handle(*pp), bytesize, "host memory");
}

void nb_post_host_alloc(const struct nb_call *call, CUresult result, void **pp, size_t bytesize,
                        unsigned int Flags)
{
    (void)Flags;
    nb_post_alloc_host(call, result, pp, bytesize);
}

void nb_post_free_host(const struct nb_call *call, CUresult result, void *p)
{
    (void)call;
    if (nb_memory_is_tracked() && result == CUDA_SUCCESS)
        nb_foreign_remove(nb_handle(p), call->begin);
}

/* Return the device address of registered memory if it differs from the host address, else 0. */
static CUdeviceptr query_device_address(void *p)
{
    CUdeviceptr address = 0;
    return NB_REAL(cuMemHostGetDevicePointer_v2)(&address, p, 0) == CUDA_SUCCESS && address != nb_handle(p)
               ? address
               : 0;
}

CUresult nb_wrap_when_recording_host_register(const struct nb_call *call, nb_cuMemHostRegister_t real,
                                              void *p, size_t bytesize, unsigned int Flags)
{
    (void)call;
    const CUresult result = real(p, bytesize, Flags);
    if (result != CUDA_SUCCESS)
        return result;
    const CUdeviceptr address = query_device_address(p);
    nb_foreign_add_host(nb_handle(p), bytesize, "registered host memory");
    if (address != 0)
        nb_foreign_add_host(address, bytesize, "registered host memory");
    return result;
}

CUresult nb_wrap_when_recording_host_unregister(const struct nb_call *call, nb_cuMemHostUnregister_t real,
                                                void *p)
{
    (void)call;
    const uint64_t begun = nb_clock();
    const CUdeviceptr address = p != NULL ? query_device_address(p) : 0;
    const CUresult result = real(p);
    if (result != CUDA_SUCCESS)
        return result;
    nb_foreign_remove(nb_handle(p), begun);
    if (address != 0)
        nb_foreign_remove(address, begun);
    return result;
}

static void add_opened_memory(CUresult result, const CUdeviceptr *address, const char *what)
{
    CUdeviceptr begin = 0;
    size_t bytes = 0;
    if (nb_memory_is_tracked() && result == CUDA_SUCCESS && address != NULL &&
        NB_REAL(cuMemGetAddressRange_v2)(&begin, &bytes, *address) == CUDA_SUCCESS)
        nb_foreign_add(*address, bytes - (*address - begin), what);
}

void nb_post_ipc_open(const struct nb_call *call, CUresult result, CUdeviceptr *pdptr, CUipcMemHandle handle,
                      unsigned int Flags)
{
    (void)call, (void)handle, (void)Flags;
    add_opened_memory(result, pdptr, "memory of another process");
}

void nb_post_ipc_close(const struct nb_call *call, CUresult result, CUdeviceptr dptr)
{
    (void)call;
    if (nb_memory_is_tracked() && result == CUDA_SUCCESS)
        nb_foreign_remove(dptr, call->begin);
}

void nb_post_pool_import(const struct nb_call *call, CUresult result, CUdeviceptr *ptr_out, CUmemoryPool pool,
                         CUmemPoolPtrExportData *shareData)
{
    (void)call, (void)pool, (void)shareData;
    add_opened_memory(result, ptr_out, "memory of another process");
}

/* The address is the graph's from now on: launches of other graphs and of kernels may use it, too. */
void nb_post_graph_alloc_node(const struct nb_call *call, CUresult result, CUgraphNode *phGraphNode,
                              CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
                              CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    (void)call, (void)phGraphNode, (void)hGraph, (void)dependencies, (void)numDependencies;
    if (nb_probing() && result == CUDA_SUCCESS && nodeParams != NULL)
        nb_foreign_add_of_graph(nodeParams->dptr, nodeParams->bytesize);
}

void nb_post_external_buffer(const struct nb_call *call, CUresult result, CUdeviceptr *devPtr,
                             CUexternalMemory extMem, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc)
{
    (void)call, (void)extMem;
    if (nb_memory_is_tracked() && result == CUDA_SUCCESS && devPtr != NULL && bufferDesc != NULL)
        nb_foreign_add(*devPtr, bufferDesc->size, "memory of another API");
}
