/* Copies of boxes, and copies from and to arrays. */
#include "runtime/channel.h"
#include "runtime/copy.h"

#include <stdint.h>

/* One side of a copy: an array, or memory with rows of `pitch` bytes. */
struct side {
    CUarray array;
    void *pointer;
    size_t x, y, z; /* x in bytes */
    size_t pitch, rows;
};

static cudaError_t describe(const struct side *to, const struct side *from, struct cudaExtent bytes,
                            enum cudaMemcpyKind kind, CUDA_MEMCPY3D *copy)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return runtime_error(cudaErrorInvalidMemcpyDirection);
    const struct copy_sides types = copy_sides_of(kind);
    *copy = (CUDA_MEMCPY3D){
        .srcMemoryType = from->array != NULL ? CU_MEMORYTYPE_ARRAY : types.from,
        .srcArray = from->array,
        .srcHost = from->pointer,
        .srcDevice = (CUdeviceptr)(uintptr_t)from->pointer,
        .srcXInBytes = from->x,
        .srcY = from->y,
        .srcZ = from->z,
        .srcPitch = from->pitch,
        .srcHeight = from->rows,
        .dstMemoryType = to->array != NULL ? CU_MEMORYTYPE_ARRAY : types.to,
        .dstArray = to->array,
        .dstHost = to->pointer,
        .dstDevice = (CUdeviceptr)(uintptr_t)to->pointer,
        .dstXInBytes = to->x,
        .dstY = to->y,
        .dstZ = to->z,
        .dstPitch = to->pitch,
        .dstHeight = to->rows,
        .WidthInBytes = bytes.width,
        .Height = bytes.height,
        .Depth = bytes.depth,
    };
    return cudaSuccess;
}

static cudaError_t run(const CUDA_MEMCPY3D *copy, cudaStream_t stream, enum copy_wait wait)
{
    READY();
    if (copy->WidthInBytes == 0 || copy->Height == 0 || copy->Depth == 0)
        return cudaSuccess;
    return runtime_result(wait == COPY_LEGACY
                              ? DRIVER(cuMemcpy3D)(copy)
                              : copy_done(DRIVER(cuMemcpy3DAsync)(copy, stream), stream, wait));
}

static cudaError_t copy_volume(const struct side *to, const struct side *from, struct cudaExtent bytes,
                               enum cudaMemcpyKind kind, cudaStream_t stream, enum copy_wait wait)
{
    CUDA_MEMCPY3D copy;
    const cudaError_t error = describe(to, from, bytes, kind, &copy);
    return error == cudaSuccess ? run(&copy, stream, wait) : error;
}

/* Bytes of an array's element; 0: no array. */
static CUresult element_bytes(CUarray array, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    const CUresult result = DRIVER(cuArray3DGetDescriptor)(&descriptor, array);
    if (result == CUDA_SUCCESS)
        *bytes = channel_element_bytes(descriptor.Format, descriptor.NumChannels);
    return result;
}

/* Positions in an array count its elements, positions in memory count bytes. The extent counts elements of an
 * array if one takes part (driver_types.h at cudaMemcpy3DParms). */
cudaError_t copy_describe_box(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *copy)
{
    size_t from_scale = 1, to_scale = 1;
    CUresult result = CUDA_SUCCESS;
    READY();
    if (p == NULL || (p->srcArray != NULL) == (p->srcPtr.ptr != NULL) ||
        (p->dstArray != NULL) == (p->dstPtr.ptr != NULL))
        return runtime_error(cudaErrorInvalidValue);
    if (p->srcArray != NULL)
        result = element_bytes((CUarray)p->srcArray, &from_scale);
    if (p->dstArray != NULL && result == CUDA_SUCCESS)
        result = element_bytes((CUarray)p->dstArray, &to_scale);
    if (result != CUDA_SUCCESS)
        return runtime_result(result);
    if (p->srcArray != NULL && p->dstArray != NULL && from_scale != to_scale)
        return runtime_error(cudaErrorInvalidValue);
    const size_t scale = p->srcArray != NULL ? from_scale : to_scale;
    struct side from = {.array = (CUarray)p->srcArray,
                        .pointer = p->srcPtr.ptr,
                        .y = p->srcPos.y,
                        .z = p->srcPos.z,
                        .pitch = p->srcPtr.pitch,
                        .rows = p->srcPtr.ysize};
    struct side to = {.array = (CUarray)p->dstArray,
                      .pointer = p->dstPtr.ptr,
                      .y = p->dstPos.y,
                      .z = p->dstPos.z,
                      .pitch = p->dstPtr.pitch,
                      .rows = p->dstPtr.ysize};
    struct cudaExtent bytes = p->extent;
    if (__builtin_mul_overflow(p->extent.width, scale, &bytes.width) ||
        __builtin_mul_overflow(p->srcPos.x, from_scale, &from.x) ||
        __builtin_mul_overflow(p->dstPos.x, to_scale, &to.x))
        return runtime_error(cudaErrorInvalidValue);
    return describe(&to, &from, bytes, p->kind, copy);
}

static void *pointer_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host : (void *)(uintptr_t)device;
}

static bool is_device(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY;
}

cudaError_t copy_box_of(const CUDA_MEMCPY3D *copy, struct cudaMemcpy3DParms *p)
{
    const bool from_array = copy->srcMemoryType == CU_MEMORYTYPE_ARRAY;
    const bool to_array = copy->dstMemoryType == CU_MEMORYTYPE_ARRAY;
    size_t from_scale = 1, to_scale = 1;
    CUresult result = from_array ? element_bytes(copy->srcArray, &from_scale) : CUDA_SUCCESS;
    if (to_array && result == CUDA_SUCCESS)
        result = element_bytes(copy->dstArray, &to_scale);
    if (result != CUDA_SUCCESS)
        return runtime_result(result);
    const bool unified =
        copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED || copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED;
    *p = (struct cudaMemcpy3DParms){
        .srcPos = {copy->srcXInBytes / from_scale, copy->srcY, copy->srcZ},
        .dstPos = {copy->dstXInBytes / to_scale, copy->dstY, copy->dstZ},
        .extent = {copy->WidthInBytes / (from_array ? from_scale : to_scale), copy->Height, copy->Depth},
        .kind = unified ? cudaMemcpyDefault
                        : (enum cudaMemcpyKind)(2 * is_device(copy->srcMemoryType) +
                                                is_device(copy->dstMemoryType))};
    if (from_array)
        p->srcArray = (cudaArray_t)copy->srcArray;
    else
        p->srcPtr = (struct cudaPitchedPtr){pointer_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice),
                                            copy->srcPitch, copy->WidthInBytes, copy->srcHeight};
    if (to_array)
        p->dstArray = (cudaArray_t)copy->dstArray;
    else
        p->dstPtr = (struct cudaPitchedPtr){pointer_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice),
                                            copy->dstPitch, copy->WidthInBytes, copy->dstHeight};
    return cudaSuccess;
}

_Static_assert(cudaMemcpyHostToHost == 0 && cudaMemcpyHostToDevice == 1 && cudaMemcpyDeviceToHost == 2 &&
                   cudaMemcpyDeviceToDevice == 3,
               "two bits: from a device, to a device");

static cudaError_t copy_box(const struct cudaMemcpy3DParms *p, cudaStream_t stream, enum copy_wait wait)
{
    CUDA_MEMCPY3D copy;
    const cudaError_t error = copy_describe_box(p, &copy);
    return error == cudaSuccess ? run(&copy, stream, wait) : error;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return copy_box(p, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpy3D_ptds, (const struct cudaMemcpy3DParms *p),
           copy_box(p, cudaStreamPerThread, COPY_WAITED))

/* Devices share one address space, so the addresses name the device too. */
static cudaError_t copy_peer_box(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream,
                                 enum copy_wait wait)
{
    CUcontext context;
    READY();
    if (p == NULL)
        return runtime_error(cudaErrorInvalidValue);
    CUresult result = runtime_primary_context(p->srcDevice, &context);
    if (result == CUDA_SUCCESS)
        result = runtime_primary_context(p->dstDevice, &context);
    if (result != CUDA_SUCCESS)
        return runtime_result(result);
    const struct cudaMemcpy3DParms box = {.srcArray = p->srcArray,
                                          .srcPos = p->srcPos,
                                          .srcPtr = p->srcPtr,
                                          .dstArray = p->dstArray,
                                          .dstPos = p->dstPos,
                                          .dstPtr = p->dstPtr,
                                          .extent = p->extent,
                                          .kind = cudaMemcpyDefault};
    return copy_box(&box, stream, wait);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return copy_peer_box(p, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpy3DPeer_ptds, (const struct cudaMemcpy3DPeerParms *p),
           copy_peer_box(p, cudaStreamPerThread, COPY_WAITED))

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy_peer_box(p, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpy3DPeerAsync_ptsz, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream),
           copy_peer_box(p, runtime_per_thread(stream), COPY_QUEUED))

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy_box(p, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpy3DAsync_ptsz, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
           copy_box(p, runtime_per_thread(stream), COPY_QUEUED))

cudaError_t copy_to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                          size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, enum copy_wait wait)
{
    const struct side to = {.array = (CUarray)dst, .x = x, .y = y};
    const struct side from = {.pointer = (void *)(uintptr_t)src, .pitch = pitch};
    if (dst == NULL)
        return runtime_error(cudaErrorInvalidResourceHandle);
    if (width > pitch)
        return runtime_error(cudaErrorInvalidPitchValue);
    return copy_volume(&to, &from, (struct cudaExtent){width, height, 1}, kind, stream, wait);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpy2DToArray_ptds,
           (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width,
            size_t height, enum cudaMemcpyKind kind),
           copy_to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, cudaStreamPerThread,
                         COPY_WAITED))

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                     size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream)
{
    return copy_to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpy2DToArrayAsync_ptsz,
           (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width,
            size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
           copy_to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, runtime_per_thread(stream),
                         COPY_QUEUED))

cudaError_t copy_from_array(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                            size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, enum copy_wait wait)
{
    const struct side to = {.pointer = dst, .pitch = pitch};
    const struct side from = {.array = (CUarray)(uintptr_t)src, .x = x, .y = y};
    if (src == NULL)
        return runtime_error(cudaErrorInvalidResourceHandle);
    if (width > pitch)
        return runtime_error(cudaErrorInvalidPitchValue);
    return copy_volume(&to, &from, (struct cudaExtent){width, height, 1}, kind, stream, wait);
}

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                  size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpy2DFromArray_ptds,
           (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
            size_t height, enum cudaMemcpyKind kind),
           copy_from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, cudaStreamPerThread,
                           COPY_WAITED))

cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                       size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind,
                                       cudaStream_t stream)
{
    return copy_from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpy2DFromArrayAsync_ptsz,
           (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
            size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
           copy_from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind,
                           runtime_per_thread(stream), COPY_QUEUED))

static cudaError_t between_arrays(cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src,
                                  size_t from_x, size_t from_y, size_t width, size_t height,
                                  enum cudaMemcpyKind kind, cudaStream_t stream, enum copy_wait wait)
{
    const struct side to = {.array = (CUarray)dst, .x = to_x, .y = to_y};
    const struct side from = {.array = (CUarray)(uintptr_t)src, .x = from_x, .y = from_y};
    if (dst == NULL || src == NULL)
        return runtime_error(cudaErrorInvalidResourceHandle);
    return copy_volume(&to, &from, (struct cudaExtent){width, height, 1}, kind, stream, wait);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                     size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return between_arrays(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind, NULL,
                          COPY_LEGACY);
}

PER_THREAD(cudaMemcpy2DArrayToArray_ptds,
           (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src, size_t wOffsetSrc,
            size_t hOffsetSrc, size_t width, size_t height, enum cudaMemcpyKind kind),
           between_arrays(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind,
                          cudaStreamPerThread, COPY_WAITED))
