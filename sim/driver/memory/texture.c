/* Texture and surface objects. A handle is the address of its object; kernels get it as a number. */
#include "driver/memory/texture.h"

#include "driver/context/context.h"
#include "driver/core/object.h"
#include "driver/memory/array.h"
#include "driver/memory/image.h"
#include "driver/stream/stream.h"

#include <stdint.h>
#include <stdlib.h>

struct image_object {
    struct sim_object object;
    struct sim_image_owner owner; /* a reference, so that no other array gets its address */
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    bool has_view;
    struct ptx_image image;
};

static void dispose(struct sim_object *object)
{
    struct image_object *self = (struct image_object *)object;
    sim_object_release(self->owner.object);
    free(self);
}

bool sim_texture_find(void *unused, uint64_t handle, bool is_surface, struct ptx_image *image)
{
    (void)unused;
    struct image_object *self =
        sim_object_acquire((const void *)(uintptr_t)handle, is_surface ? SIM_SURFACE : SIM_TEXTURE);
    if (self == NULL)
        return false;
    const bool is_alive =
        self->owner.object == NULL || sim_object_find(self->owner.object, self->owner.kind) != NULL;
    if (is_alive)
        *image = self->image;
    sim_object_release(self);
    return is_alive;
}

static CUresult publish(unsigned long long *handle, const struct image_object *made, enum sim_kind kind,
                        struct sim_context *context)
{
    struct image_object *self = malloc(sizeof(*self));
    if (self == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *self = *made;
    sim_object_init(&self->object, kind, context, dispose);
    self->object.end = sim_object_release;
    if (self->owner.object != NULL)
        sim_object_retain(self->owner.object);
    if (!sim_object_publish(self)) {
        sim_object_release(self);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = (uintptr_t)self;
    return CUDA_SUCCESS;
}

/* Waits for the context's work: programs destroy an object while kernels that use it are queued. */
static CUresult destroy(unsigned long long handle, enum sim_kind kind)
{
    struct sim_context *context;
    void *object = (void *)(uintptr_t)handle;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_object_find(object, kind) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    result = sim_context_synchronize(context);
    if (!sim_object_withdraw(object, kind))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_release(object);
    return result;
}

CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                           const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    struct sim_context *context;
    struct image_object made = {.has_view = pResViewDesc != NULL};
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pTexObject == NULL || pResDesc == NULL || pTexDesc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    made.resource = *pResDesc;
    made.texture = *pTexDesc;
    if (made.has_view)
        made.view = *pResViewDesc;
    result = sim_image_of_resource(pResDesc, pResViewDesc, (pTexDesc->flags & CU_TRSF_READ_AS_INTEGER) != 0,
                                   &made.image, &made.owner);
    if (result == CUDA_SUCCESS)
        result = sim_image_add_texture(pTexDesc, &made.image);
    return result == CUDA_SUCCESS ? publish(pTexObject, &made, SIM_TEXTURE, context) : result;
}

CUresult cuTexObjectDestroy(CUtexObject texObject)
{
    return destroy(texObject, SIM_TEXTURE);
}

/* "must be CU_RESOURCE_TYPE_ARRAY" (cuda.h) */
CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    struct sim_context *context;
    struct image_object made = {.has_view = false};
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pSurfObject == NULL || pResDesc == NULL || pResDesc->resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    made.resource = *pResDesc;
    result = sim_image_of_resource(pResDesc, NULL, true, &made.image, &made.owner);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_array *array = made.owner.object;
    if ((array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return publish(pSurfObject, &made, SIM_SURFACE, context);
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject)
{
    return destroy(surfObject, SIM_SURFACE);
}

static CUresult find(unsigned long long handle, enum sim_kind kind, const void *out,
                     const struct image_object **self)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *self = sim_object_find((const void *)(uintptr_t)handle, kind);
    return out == NULL ? CUDA_ERROR_INVALID_VALUE : *self == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject)
{
    const struct image_object *self;
    const CUresult result = find(texObject, SIM_TEXTURE, pResDesc, &self);
    if (result == CUDA_SUCCESS)
        *pResDesc = self->resource;
    return result;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject)
{
    const struct image_object *self;
    const CUresult result = find(texObject, SIM_TEXTURE, pTexDesc, &self);
    if (result == CUDA_SUCCESS)
        *pTexDesc = self->texture;
    return result;
}

/* "If the texture object was not created with a view, an error is returned" (cuda.h does not name it). */
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc, CUtexObject texObject)
{
    const struct image_object *self;
    const CUresult result = find(texObject, SIM_TEXTURE, pResViewDesc, &self);
    if (result != CUDA_SUCCESS)
        return result;
    if (!self->has_view)
        return CUDA_ERROR_INVALID_VALUE;
    *pResViewDesc = self->view;
    return CUDA_SUCCESS;
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject)
{
    const struct image_object *self;
    const CUresult result = find(surfObject, SIM_SURFACE, pResDesc, &self);
    if (result == CUDA_SUCCESS)
        *pResDesc = self->resource;
    return result;
}
