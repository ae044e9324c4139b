/* Texture and surface objects. */
#include "runtime/channel.h"

#include <string.h>

_Static_assert(sizeof(struct cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC) &&
                   offsetof(struct cudaResourceViewDesc, lastLayer) ==
                       offsetof(CUDA_RESOURCE_VIEW_DESC, lastLayer) &&
                   (int)cudaResViewFormatFloat4 == (int)CU_RES_VIEW_FORMAT_FLOAT_4X32,
               "views are passed on unchanged");
_Static_assert((int)cudaAddressModeBorder == (int)CU_TR_ADDRESS_MODE_BORDER &&
                   (int)cudaFilterModeLinear == (int)CU_TR_FILTER_MODE_LINEAR &&
                   (int)cudaResourceTypePitch2D == (int)CU_RESOURCE_TYPE_PITCH2D,
               "numbers are passed on unchanged");

static cudaError_t to_resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
    bool good = true;
    *to = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)from->resType, .flags = from->flags};
    switch (from->resType) {
    case cudaResourceTypeArray:
        to->res.array.hArray = (CUarray)from->res.array.array;
        break;
    case cudaResourceTypeMipmappedArray:
        to->res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
        break;
    case cudaResourceTypeLinear:
        to->res.linear.devPtr = (CUdeviceptr)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        good = channel_to_format(&from->res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
        break;
    case cudaResourceTypePitch2D:
        to->res.pitch2D.devPtr = (CUdeviceptr)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        good =
            channel_to_format(&from->res.pitch2D.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels);
        break;
    default:
        return runtime_error(cudaErrorInvalidValue);
    }
    return good ? cudaSuccess : runtime_error(cudaErrorInvalidChannelDescriptor);
}

static void from_resource(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to)
{
    *to = (struct cudaResourceDesc){.resType = (enum cudaResourceType)from->resType, .flags = from->flags};
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.array = (cudaArray_t)from->res.array.hArray;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.mipmap = (cudaMipmappedArray_t)from->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (void *)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        to->res.linear.desc = channel_of_format(from->res.linear.format, from->res.linear.numChannels);
        break;
    default:
        to->res.pitch2D.devPtr = (void *)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        to->res.pitch2D.desc = channel_of_format(from->res.pitch2D.format, from->res.pitch2D.numChannels);
        break;
    }
}

/* The channels that a texture reads: the view's if it names a format, else the resource's. The formats of
 * views come in threes. */
static CUresult texture_channel(const CUDA_RESOURCE_DESC *resource, const struct cudaResourceViewDesc *view,
                                struct cudaChannelFormatDesc *channel)
{
    static const struct cudaChannelFormatDesc views[] = {
        {.x = 8, .f = cudaChannelFormatKindUnsigned},  {.x = 8, .f = cudaChannelFormatKindSigned},
        {.x = 16, .f = cudaChannelFormatKindUnsigned}, {.x = 16, .f = cudaChannelFormatKindSigned},
        {.x = 32, .f = cudaChannelFormatKindUnsigned}, {.x = 32, .f = cudaChannelFormatKindSigned},
        {.x = 16, .f = cudaChannelFormatKindFloat},    {.x = 32, .f = cudaChannelFormatKindFloat}};
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Format = resource->res.linear.format, .NumChannels = 1};
    CUresult result = CUDA_SUCCESS;
    CUarray array = resource->res.array.hArray;
    if (view != NULL && view->format != cudaResViewFormatNone) {
        const unsigned row = ((unsigned)view->format - 1) / 3;
        *channel = row < sizeof views / sizeof *views ? views[row] : views[7]; /* compressed: float */
        return CUDA_SUCCESS;
    }
    if (resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        result = DRIVER(cuMipmappedArrayGetLevel)(&array, resource->res.mipmap.hMipmappedArray, 0);
    if (result == CUDA_SUCCESS && (resource->resType == CU_RESOURCE_TYPE_ARRAY ||
                                   resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY))
        result = DRIVER(cuArray3DGetDescriptor)(&descriptor, array);
    if (resource->resType == CU_RESOURCE_TYPE_PITCH2D)
        descriptor.Format = resource->res.pitch2D.format;
    *channel = channel_of_format(descriptor.Format, 1);
    return result;
}

/* The runtime checks what the driver's flags cannot say. */
static cudaError_t check_reading(const struct cudaTextureDesc *texture, bool is_linear_memory,
                                 const struct cudaChannelFormatDesc *channel)
{
    const bool integer =
        channel->f == cudaChannelFormatKindSigned || channel->f == cudaChannelFormatKindUnsigned;
    const bool normalizes = texture->readMode == cudaReadModeNormalizedFloat;
    if (integer && normalizes && channel->x == 32)
        return runtime_error(cudaErrorInvalidNormSetting);
    if (integer && !normalizes && texture->filterMode == cudaFilterModeLinear && !is_linear_memory)
        return runtime_error(cudaErrorInvalidFilterSetting);
    return cudaSuccess;
}

static CUDA_TEXTURE_DESC to_texture(const struct cudaTextureDesc *from)
{
    CUDA_TEXTURE_DESC to = {
        .filterMode = (CUfilter_mode)from->filterMode,
        .flags = (from->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
                 (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
                 (from->sRGB ? CU_TRSF_SRGB : 0u) |
                 (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
                 (from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u),
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (CUfilter_mode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp};
    for (unsigned i = 0; i < 3; i++)
        to.addressMode[i] = (CUaddress_mode)from->addressMode[i];
    memcpy(to.borderColor, from->borderColor, sizeof to.borderColor);
    return to;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject, const struct cudaResourceDesc *pResDesc,
                                    const struct cudaTextureDesc *pTexDesc,
                                    const struct cudaResourceViewDesc *pResViewDesc)
{
    CUDA_RESOURCE_DESC resource;
    struct cudaChannelFormatDesc channel;
    READY();
    if (pTexObject == NULL || pResDesc == NULL || pTexDesc == NULL)
        return runtime_error(cudaErrorInvalidValue);
    cudaError_t error = to_resource(pResDesc, &resource);
    if (error == cudaSuccess)
        error = runtime_result(texture_channel(&resource, pResViewDesc, &channel));
    if (error == cudaSuccess)
        error = check_reading(pTexDesc, pResDesc->resType == cudaResourceTypeLinear, &channel);
    if (error != cudaSuccess)
        return error;
    const CUDA_TEXTURE_DESC texture = to_texture(pTexDesc);
    return runtime_result(DRIVER(cuTexObjectCreate)(
        pTexObject, &resource, &texture, (const CUDA_RESOURCE_VIEW_DESC *)(const void *)pResViewDesc));
}

FORWARD(cudaDestroyTextureObject, (cudaTextureObject_t texObject), cuTexObjectDestroy, texObject)

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_DESC resource;
    READY();
    if (pResDesc == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const CUresult result = DRIVER(cuTexObjectGetResourceDesc)(&resource, texObject);
    if (result == CUDA_SUCCESS)
        from_resource(&resource, pResDesc);
    return runtime_result(result);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc, cudaTextureObject_t texObject)
{
    CUDA_TEXTURE_DESC from;
    READY();
    if (pTexDesc == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const CUresult result = DRIVER(cuTexObjectGetTextureDesc)(&from, texObject);
    if (result != CUDA_SUCCESS)
        return runtime_result(result);
    *pTexDesc = (struct cudaTextureDesc){
        .filterMode = (enum cudaTextureFilterMode)from.filterMode,
        .readMode = (from.flags & CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType
                                                                : cudaReadModeNormalizedFloat,
        .sRGB = (from.flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = from.maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)from.mipmapFilterMode,
        .mipmapLevelBias = from.mipmapLevelBias,
        .minMipmapLevelClamp = from.minMipmapLevelClamp,
        .maxMipmapLevelClamp = from.maxMipmapLevelClamp,
        .disableTrilinearOptimization = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0,
        .seamlessCubemap = (from.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0};
    for (unsigned i = 0; i < 3; i++)
        pTexDesc->addressMode[i] = (enum cudaTextureAddressMode)from.addressMode[i];
    memcpy(pTexDesc->borderColor, from.borderColor, sizeof from.borderColor);
    return cudaSuccess;
}

FORWARD(cudaGetTextureObjectResourceViewDesc,
        (struct cudaResourceViewDesc * pResViewDesc, cudaTextureObject_t texObject),
        cuTexObjectGetResourceViewDesc, (CUDA_RESOURCE_VIEW_DESC *)(void *)pResViewDesc, texObject)

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject, const struct cudaResourceDesc *pResDesc)
{
    CUDA_RESOURCE_DESC resource;
    READY();
    if (pSurfObject == NULL || pResDesc == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const cudaError_t error = to_resource(pResDesc, &resource);
    return error == cudaSuccess ? runtime_result(DRIVER(cuSurfObjectCreate)(pSurfObject, &resource)) : error;
}

FORWARD(cudaDestroySurfaceObject, (cudaSurfaceObject_t surfObject), cuSurfObjectDestroy, surfObject)

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                             cudaSurfaceObject_t surfObject)
{
    CUDA_RESOURCE_DESC resource;
    READY();
    if (pResDesc == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const CUresult result = DRIVER(cuSurfObjectGetResourceDesc)(&resource, surfObject);
    if (result == CUDA_SUCCESS)
        from_resource(&resource, pResDesc);
    return runtime_result(result);
}
