/* The memory and the format of an image. */
#include "driver/memory/image.h"

#include "driver/core/message.h"
#include "driver/device/device.h"
#include "driver/memory/array.h"
#include "driver/memory/range.h"

#include <string.h>

/* False: a format that no image has. */
static bool set_format(struct ptx_image *image, CUarray_format format, unsigned channels, bool as_integers)
{
    static const struct {
        CUarray_format format;
        enum ptx_channel integer, normalized;
    } rows[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, PTX_CHANNEL_U8, PTX_CHANNEL_UNORM8},
        {CU_AD_FORMAT_SIGNED_INT8, PTX_CHANNEL_S8, PTX_CHANNEL_SNORM8},
        {CU_AD_FORMAT_UNSIGNED_INT16, PTX_CHANNEL_U16, PTX_CHANNEL_UNORM16},
        {CU_AD_FORMAT_SIGNED_INT16, PTX_CHANNEL_S16, PTX_CHANNEL_SNORM16},
        {CU_AD_FORMAT_UNSIGNED_INT32, PTX_CHANNEL_U32, PTX_CHANNEL_U32},
        {CU_AD_FORMAT_SIGNED_INT32, PTX_CHANNEL_S32, PTX_CHANNEL_S32},
        {CU_AD_FORMAT_HALF, PTX_CHANNEL_F16, PTX_CHANNEL_F16},
        {CU_AD_FORMAT_FLOAT, PTX_CHANNEL_F32, PTX_CHANNEL_F32},
        {CU_AD_FORMAT_UNORM_INT8X1, PTX_CHANNEL_UNORM8, PTX_CHANNEL_UNORM8},
        {CU_AD_FORMAT_UNORM_INT8X2, PTX_CHANNEL_UNORM8, PTX_CHANNEL_UNORM8},
        {CU_AD_FORMAT_UNORM_INT8X4, PTX_CHANNEL_UNORM8, PTX_CHANNEL_UNORM8},
        {CU_AD_FORMAT_SNORM_INT8X1, PTX_CHANNEL_SNORM8, PTX_CHANNEL_SNORM8},
        {CU_AD_FORMAT_SNORM_INT8X2, PTX_CHANNEL_SNORM8, PTX_CHANNEL_SNORM8},
        {CU_AD_FORMAT_SNORM_INT8X4, PTX_CHANNEL_SNORM8, PTX_CHANNEL_SNORM8},
        {CU_AD_FORMAT_UNORM_INT16X1, PTX_CHANNEL_UNORM16, PTX_CHANNEL_UNORM16},
        {CU_AD_FORMAT_UNORM_INT16X2, PTX_CHANNEL_UNORM16, PTX_CHANNEL_UNORM16},
        {CU_AD_FORMAT_UNORM_INT16X4, PTX_CHANNEL_UNORM16, PTX_CHANNEL_UNORM16},
        {CU_AD_FORMAT_SNORM_INT16X1, PTX_CHANNEL_SNORM16, PTX_CHANNEL_SNORM16},
        {CU_AD_FORMAT_SNORM_INT16X2, PTX_CHANNEL_SNORM16, PTX_CHANNEL_SNORM16},
        {CU_AD_FORMAT_SNORM_INT16X4, PTX_CHANNEL_SNORM16, PTX_CHANNEL_SNORM16},
    };
    image->channels = channels;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].format == format) {
            image->channel = as_integers ? rows[i].integer : rows[i].normalized;
            return channels == 1 || channels == 2 || channels == 4;
        }
    return false;
}

static size_t element_bytes(const struct ptx_image *image)
{
    return (size_t)ptx_channel_bytes(image->channel) * image->channels;
}

static void add_level(struct ptx_image *image, const struct sim_array *array)
{
    image->levels[image->level_count++] = (struct ptx_level){.address = array->storage,
                                                             .pitch = array->row_bytes,
                                                             .slice = array->row_bytes * array->rows,
                                                             .width = (uint32_t)array->descriptor.Width,
                                                             .height = (uint32_t)array->rows,
                                                             .depth = (uint32_t)array->slices};
}

static CUresult of_array(const struct sim_array *array, bool as_integers, struct ptx_image *image)
{
    const CUDA_ARRAY3D_DESCRIPTOR *descriptor = &array->descriptor;
    image->has_layers = (descriptor->Flags & CUDA_ARRAY3D_LAYERED) != 0;
    image->is_cube = (descriptor->Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    add_level(image, array);
    return set_format(image, descriptor->Format, descriptor->NumChannels, as_integers)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* A pointer must be aligned and lie in an allocation; accesses are checked when they are made. */
static bool is_texture_pointer(CUdeviceptr pointer)
{
    struct sim_range range;
    return pointer != 0 && pointer % SIM_TEXTURE_ALIGNMENT == 0 && sim_range_find(pointer, &range);
}

static CUresult of_linear(const CUDA_RESOURCE_DESC *resource, bool as_integers, struct ptx_image *image)
{
    const __typeof__(resource->res.linear) *linear = &resource->res.linear;
    if (!set_format(image, linear->format, linear->numChannels, as_integers) ||
        !is_texture_pointer(linear->devPtr))
        return CUDA_ERROR_INVALID_VALUE;
    const size_t count = linear->sizeInBytes / element_bytes(image);
    if (count == 0 || count > SIM_TEXTURE_1D_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    image->is_linear = true;
    image->level_count = 1;
    image->levels[0] =
        (struct ptx_level){.address = linear->devPtr, .width = (uint32_t)count, .height = 1, .depth = 1};
    return CUDA_SUCCESS;
}

static CUresult of_pitch(const CUDA_RESOURCE_DESC *resource, bool as_integers, struct ptx_image *image)
{
    const __typeof__(resource->res.pitch2D) *pitch = &resource->res.pitch2D;
    if (!set_format(image, pitch->format, pitch->numChannels, as_integers) ||
        !is_texture_pointer(pitch->devPtr) || pitch->width == 0 || pitch->height == 0 ||
        pitch->width > SIM_TEXTURE_2D_LINEAR_WIDTH || pitch->height > SIM_TEXTURE_2D_LINEAR_HEIGHT ||
        pitch->pitchInBytes % SIM_TEXTURE_PITCH_ALIGNMENT != 0 ||
        pitch->pitchInBytes > SIM_TEXTURE_2D_LINEAR_PITCH ||
        pitch->pitchInBytes < pitch->width * element_bytes(image))
        return CUDA_ERROR_INVALID_VALUE;
    image->is_linear = true;
    image->level_count = 1;
    image->levels[0] = (struct ptx_level){.address = pitch->devPtr,
                                          .pitch = pitch->pitchInBytes,
                                          .width = (uint32_t)pitch->width,
                                          .height = (uint32_t)pitch->height,
                                          .depth = 1};
    return CUDA_SUCCESS;
}

/* Views that reinterpret elements of one size. The formats come in threes, for 1, 2 and 4 channels. */
static CUresult view_format(struct ptx_image *image, CUresourceViewFormat format, bool as_integers)
{
    static const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
                                             CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
                                             CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
                                             CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    const size_t bytes = element_bytes(image);
    if (format == CU_RES_VIEW_FORMAT_NONE)
        return CUDA_SUCCESS;
    const unsigned row = (unsigned)format - 1;
    return row / 3 < sizeof formats / sizeof *formats &&
                   set_format(image, formats[row / 3], 1u << row % 3, as_integers) &&
                   element_bytes(image) == bytes
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult apply_view(struct ptx_image *image, const CUDA_RESOURCE_VIEW_DESC *view, size_t width,
                           size_t height, size_t depth, bool as_integers)
{
    const bool layers = image->has_layers || image->is_cube;
    const unsigned first = view->firstMipmapLevel, last = view->lastMipmapLevel;
    if (view->format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 && view->format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7) {
        sim_print("block-compressed textures are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (view->width != width || view->height != height || view->depth != depth || first > last ||
        last >= image->level_count || view->firstLayer > view->lastLayer ||
        view->lastLayer >= (layers ? image->levels[0].depth : 1))
        return CUDA_ERROR_INVALID_VALUE;
    image->level_count = last - first + 1;
    memmove(image->levels, image->levels + first, image->level_count * sizeof *image->levels);
    for (unsigned i = 0; layers && i < image->level_count; i++) {
        image->levels[i].address += view->firstLayer * image->levels[i].slice;
        image->levels[i].depth = view->lastLayer - view->firstLayer + 1;
    }
    return view_format(image, view->format, as_integers);
}

CUresult sim_image_of_resource(const CUDA_RESOURCE_DESC *resource, const CUDA_RESOURCE_VIEW_DESC *view,
                               bool as_integers, struct ptx_image *image, struct sim_image_owner *owner)
{
    const struct sim_array *array = NULL;
    *image = (struct ptx_image){0};
    *owner = (struct sim_image_owner){0};
    if (resource->flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_LINEAR:
        return view != NULL ? CUDA_ERROR_INVALID_VALUE : of_linear(resource, as_integers, image);
    case CU_RESOURCE_TYPE_PITCH2D:
        return view != NULL ? CUDA_ERROR_INVALID_VALUE : of_pitch(resource, as_integers, image);
    case CU_RESOURCE_TYPE_ARRAY:
        *owner = (struct sim_image_owner){resource->res.array.hArray, SIM_ARRAY};
        array = sim_object_find(owner->object, SIM_ARRAY);
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        *owner = (struct sim_image_owner){resource->res.mipmap.hMipmappedArray, SIM_MIPMAPPED_ARRAY};
        array = sim_mipmapped_level(owner->object, 0);
        break;
    default:
        break;
    }
    if (array == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = of_array(array, as_integers, image);
    for (unsigned i = 1; owner->kind == SIM_MIPMAPPED_ARRAY && i < PTX_IMAGE_LEVELS; i++) {
        const struct sim_array *level = sim_mipmapped_level(owner->object, i);
        if (level == NULL)
            break;
        add_level(image, level);
    }
    if (result == CUDA_SUCCESS && view != NULL)
        result = apply_view(image, view, array->descriptor.Width, array->descriptor.Height,
                            array->descriptor.Depth, as_integers);
    return result;
}
