/* cuArrayCreate and queries of arrays. */
#include "driver/memory/array.h"

#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/memory/heap.h"
#include "driver/stream/stream.h"

#include <stdlib.h>

#define FLAGS                                                                                                \
    (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER | \
     CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT)

/* 0 for an unsupported format or number of channels. */
static size_t element_bytes(CUarray_format format, unsigned channels)
{
    if (channels != 1 && channels != 2 && channels != 4)
        return 0;
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return channels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2u * channels;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4u * channels;
    case CU_AD_FORMAT_UNORM_INT8X1: /* the number of channels is part of a normalized format */
    case CU_AD_FORMAT_SNORM_INT8X1:
        return channels == 1 ? 1 : 0;
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X2:
        return channels == 2 ? 2 : 0;
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X4:
        return channels == 4 ? 4 : 0;
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X1:
        return channels == 1 ? 2 : 0;
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X2:
        return channels == 2 ? 4 : 0;
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X4:
        return channels == 4 ? 8 : 0;
    default:
        return 0;
    }
}

/* The table in cuda.h at cuArray3DCreate, with the figures of a device of compute capability 9.0. */
static bool extents_fit(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const bool layered = (d->Flags & CUDA_ARRAY3D_LAYERED) != 0;
    const bool surface = (d->Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0;
    const bool gather = (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0;
    if (d->Width == 0 || (gather && (d->Height == 0 || d->Depth != 0)))
        return false;
    if ((d->Flags & CUDA_ARRAY3D_CUBEMAP) != 0)
        return d->Width == d->Height && d->Width <= SIM_TEXTURE_LAYERED_WIDTH &&
               (layered ? d->Depth != 0 && d->Depth % 6 == 0 && d->Depth <= SIM_TEXTURE_CUBEMAP_LAYERS
                        : d->Depth == 6);
    if (layered)
        return d->Depth != 0 && d->Depth <= SIM_TEXTURE_LAYERS && d->Width <= SIM_TEXTURE_LAYERED_WIDTH &&
               d->Height <= SIM_TEXTURE_LAYERED_WIDTH;
    if (d->Depth != 0)
        return d->Height != 0 && d->Width <= SIM_TEXTURE_3D && d->Height <= SIM_TEXTURE_3D &&
               d->Depth <= SIM_TEXTURE_3D;
    if (d->Height != 0)
        return d->Width <= (gather ? SIM_TEXTURE_GATHER : SIM_TEXTURE_2D_WIDTH) &&
               d->Height <= (gather ? SIM_TEXTURE_GATHER : SIM_TEXTURE_2D_HEIGHT);
    return d->Width <= (surface ? SIM_SURFACE_1D : SIM_TEXTURE_1D);
}

CUresult sim_array_measure(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, struct sim_array *array)
{
    array->descriptor = *descriptor;
    array->element_bytes = element_bytes(descriptor->Format, descriptor->NumChannels);
    if ((descriptor->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0)
        return CUDA_ERROR_NOT_SUPPORTED; /* as the device's attributes tell */
    if ((descriptor->Flags & ~(unsigned)FLAGS) != 0 || array->element_bytes == 0 || !extents_fit(descriptor))
        return CUDA_ERROR_INVALID_VALUE;
    array->row_bytes = descriptor->Width * array->element_bytes;
    array->rows = descriptor->Height == 0 ? 1 : descriptor->Height;
    array->slices = descriptor->Depth == 0 ? 1 : descriptor->Depth;
    array->bytes = array->row_bytes * array->rows * array->slices; /* cannot overflow within the extents */
    return CUDA_SUCCESS;
}

bool sim_array_locate(const struct sim_array *array, size_t x, size_t y, size_t z, size_t width,
                      size_t height, size_t depth, uint64_t *address)
{
    if (x % array->element_bytes != 0 || width % array->element_bytes != 0 || x > array->row_bytes ||
        width > array->row_bytes - x || y > array->rows || height > array->rows - y || z > array->slices ||
        depth > array->slices - z)
        return false;
    *address = array->storage + (z * array->rows + y) * array->row_bytes + x;
    return true;
}

static void dispose(struct sim_object *object)
{
    struct sim_array *array = (struct sim_array *)object;
    if (array->storage != 0)
        sim_heap_free(array->storage, array->bytes);
    free(array);
}

struct sim_array *sim_array_make(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, struct sim_context *context,
                                 bool is_level)
{
    struct sim_array *array = calloc(1, sizeof(*array));
    if (array == NULL)
        return NULL;
    sim_object_init(&array->object, SIM_ARRAY, is_level ? NULL : context, dispose);
    array->object.end = sim_object_release;
    array->is_level = is_level;
    if (sim_array_measure(descriptor, array) == CUDA_SUCCESS)
        array->storage = sim_heap_allocate(array->bytes);
    if (array->storage == 0 || !sim_object_publish(array)) {
        sim_object_release(array);
        return NULL;
    }
    return array;
}

static CUresult create(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                       struct sim_context *context)
{
    struct sim_array measured;
    const CUresult result = sim_array_measure(descriptor, &measured);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_array *array = sim_array_make(descriptor, context, false);
    if (array == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = (CUarray)array;
    return CUDA_SUCCESS;
}

CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pHandle == NULL || pAllocateArray == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = pAllocateArray->Width,
                                                .Height = pAllocateArray->Height,
                                                .Format = pAllocateArray->Format,
                                                .NumChannels = pAllocateArray->NumChannels};
    return create(pHandle, &descriptor, context);
}

CUresult cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pHandle == NULL || pAllocateArray == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return create(pHandle, pAllocateArray, context);
}

/* Waits for the context's work, so that the memory is free on return. */
CUresult cuArrayDestroy(CUarray hArray)
{
    struct sim_context *context;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_array *array = sim_object_find(hArray, SIM_ARRAY);
    if (array == NULL || array->is_level)
        return CUDA_ERROR_INVALID_HANDLE;
    result = sim_context_synchronize(context);
    if (!sim_object_withdraw(hArray, SIM_ARRAY))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_release(hArray);
    return result;
}

static CUresult describe(CUarray hArray, const void *out, const struct sim_array **array)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *array = sim_object_find(hArray, SIM_ARRAY);
    return *array == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    const struct sim_array *array;
    const CUresult result = describe(hArray, pArrayDescriptor, &array);
    if (result == CUDA_SUCCESS)
        *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){.Width = array->descriptor.Width,
                                                    .Height = array->descriptor.Height,
                                                    .Format = array->descriptor.Format,
                                                    .NumChannels = array->descriptor.NumChannels};
    return result;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    const struct sim_array *array;
    const CUresult result = describe(hArray, pArrayDescriptor, &array);
    if (result == CUDA_SUCCESS)
        *pArrayDescriptor = array->descriptor;
    return result;
}

/* The queries below apply to arrays with refused flags or planar formats only, so they fail for every array
 * here. */
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUarray array,
                                      CUdevice device)
{
    const struct sim_array *found;
    const CUresult result = describe(array, memoryRequirements, &found);
    if (result == CUDA_SUCCESS && device != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUarray array)
{
    const struct sim_array *found;
    const CUresult result = describe(array, sparseProperties, &found);
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
    const struct sim_array *found;
    const CUresult result = describe(hArray, pPlaneArray, &found);
    (void)planeIdx;
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}
