/* Texture and surface objects. They can be created and destroyed, but no kernel reads through them: such PTX
 * is not loaded (README.md). */
#include "driver/context/context.h"
#include "driver/core/object.h"

#include <stdint.h>
#include <stdlib.h>

static void dispose(struct sim_object *object)
{
    free(object);
}

static bool is_resource(const CUDA_RESOURCE_DESC *resource)
{
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return sim_object_find(resource->res.array.hArray, SIM_ARRAY) != NULL;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return sim_object_find(resource->res.mipmap.hMipmappedArray, SIM_MIPMAPPED_ARRAY) != NULL;
    case CU_RESOURCE_TYPE_LINEAR:
        return resource->res.linear.devPtr != 0;
    case CU_RESOURCE_TYPE_PITCH2D:
        return resource->res.pitch2D.devPtr != 0;
    default:
        return false;
    }
}

static CUresult make(unsigned long long *handle, const CUDA_RESOURCE_DESC *resource, enum sim_kind kind)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || resource == NULL || !is_resource(resource))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_object *object = calloc(1, sizeof(*object));
    if (object == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(object, kind, context, dispose);
    object->end = sim_object_release;
    if (!sim_object_publish(object)) {
        sim_object_release(object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = (uintptr_t)object;
    return CUDA_SUCCESS;
}

static CUresult destroy(unsigned long long handle, enum sim_kind kind)
{
    struct sim_context *context;
    void *object = (void *)(uintptr_t)handle;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_object_withdraw(object, kind))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_release(object);
    return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                           const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    (void)pResViewDesc;
    if (pTexDesc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return make(pTexObject, pResDesc, SIM_TEXTURE);
}

CUresult cuTexObjectDestroy(CUtexObject texObject)
{
    return destroy(texObject, SIM_TEXTURE);
}

/* "must be CU_RESOURCE_TYPE_ARRAY" (cuda.h) */
CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    if (pResDesc == NULL || pResDesc->resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    return make(pSurfObject, pResDesc, SIM_SURFACE);
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject)
{
    return destroy(surfObject, SIM_SURFACE);
}
