/* Mipmapped arrays: one array per level, all in one allocation. */
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/memory/array.h"
#include "driver/stream/stream.h"

#include <stdlib.h>

#define LEVELS_MAX 16 /* for SIM_MIPMAPPED_WIDTH elements; 3D arrays are smaller */

struct mipmapped_array {
    struct sim_object object; /* owns the handles of its levels; copies hold references to levels */
    struct sim_array *levels[LEVELS_MAX];
    unsigned count;
};

static unsigned half(size_t extent, unsigned level)
{
    return extent == 0 ? 0 : extent >> level == 0 ? 1 : (unsigned)(extent >> level);
}

/* Number of levels down to one element in each dimension. */
static unsigned levels_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const bool layers = (d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    size_t longest = d->Width > d->Height ? d->Width : d->Height;
    if (!layers && d->Depth > longest)
        longest = d->Depth;
    unsigned levels = 0;
    for (; longest != 0; longest >>= 1)
        levels++;
    return levels;
}

static void dispose(struct sim_object *object)
{
    struct mipmapped_array *self = (struct mipmapped_array *)object;
    for (unsigned i = 0; i < self->count; i++) {
        (void)sim_object_withdraw(self->levels[i], SIM_ARRAY);
        sim_object_release(self->levels[i]);
    }
    free(self);
}

static struct sim_array *make_level(const CUDA_ARRAY3D_DESCRIPTOR *whole, unsigned number)
{
    const bool layers = (whole->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    CUDA_ARRAY3D_DESCRIPTOR descriptor = *whole;
    descriptor.Width = half(whole->Width, number);
    descriptor.Height = half(whole->Height, number);
    descriptor.Depth = layers ? whole->Depth : half(whole->Depth, number);
    return sim_array_make(&descriptor, NULL, true);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                unsigned int numMipmapLevels)
{
    struct sim_context *context;
    struct sim_array measured;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pHandle == NULL || pMipmappedArrayDesc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_array_measure(pMipmappedArrayDesc, &measured);
    if (result != CUDA_SUCCESS)
        return result;
    if (pMipmappedArrayDesc->Width > SIM_MIPMAPPED_WIDTH || pMipmappedArrayDesc->Height > SIM_MIPMAPPED_WIDTH)
        return CUDA_ERROR_INVALID_VALUE;
    struct mipmapped_array *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&self->object, SIM_MIPMAPPED_ARRAY, context, dispose);
    self->object.end = sim_object_release;
    /* "clamped to the range [1, 1 + floor(log2(max(width, height, depth)))]" (cuda.h) */
    const unsigned most = levels_of(pMipmappedArrayDesc);
    const unsigned wanted = numMipmapLevels == 0 ? 1 : numMipmapLevels < most ? numMipmapLevels : most;
    while (self->count < wanted &&
           (self->levels[self->count] = make_level(pMipmappedArrayDesc, self->count)) != NULL)
        self->count++;
    if (self->count < wanted || !sim_object_publish(self)) {
        sim_object_release(self);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pHandle = (CUmipmappedArray)self;
    return CUDA_SUCCESS;
}

const struct sim_array *sim_mipmapped_level(const void *handle, unsigned level)
{
    const struct mipmapped_array *self = sim_object_find(handle, SIM_MIPMAPPED_ARRAY);
    return self != NULL && level < self->count ? self->levels[level] : NULL;
}

static CUresult find(CUmipmappedArray handle, const void *out, struct mipmapped_array **self)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *self = sim_object_find(handle, SIM_MIPMAPPED_ARRAY);
    return *self == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level)
{
    struct mipmapped_array *self;
    const CUresult result = find(hMipmappedArray, pLevelArray, &self);
    if (result != CUDA_SUCCESS)
        return result;
    if (level >= self->count)
        return CUDA_ERROR_INVALID_VALUE;
    *pLevelArray = (CUarray)self->levels[level];
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    struct sim_context *context;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_object_find(hMipmappedArray, SIM_MIPMAPPED_ARRAY) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    result = sim_context_synchronize(context);
    if (!sim_object_withdraw(hMipmappedArray, SIM_MIPMAPPED_ARRAY))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_release(hMipmappedArray);
    return result;
}

/* For mipmapped arrays with refused flags, so it fails for every array here. */
CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
                                               CUmipmappedArray mipmap, CUdevice device)
{
    struct mipmapped_array *self;
    const CUresult result = find(mipmap, memoryRequirements, &self);
    if (result == CUDA_SUCCESS && device != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
                                             CUmipmappedArray mipmap)
{
    struct mipmapped_array *self;
    const CUresult result = find(mipmap, sparseProperties, &self);
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}
