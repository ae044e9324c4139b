/* Texture and surface objects, and references that a program looks up; as cuTexObjectCreate and the like. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "real.h"
#include "special.h"

void nb_after_hip_texture_create(const struct nb_call *call, hipError_t result,
                                 hipTextureObject_t *pTexObject, const hipResourceDesc *pResDesc,
                                 const hipTextureDesc *pTexDesc,
                                 const struct hipResourceViewDesc *pResViewDesc)
{
    (void)pTexObject, (void)pResDesc, (void)pTexDesc, (void)pResViewDesc;
    nb_after_texture_create(call, (CUresult)result, NULL, NULL, NULL, NULL);
}

void nb_after_hip_driver_texture_create(const struct nb_call *call, hipError_t result,
                                        hipTextureObject_t *pTexObject, const HIP_RESOURCE_DESC *pResDesc,
                                        const HIP_TEXTURE_DESC *pTexDesc,
                                        const HIP_RESOURCE_VIEW_DESC *pResViewDesc)
{
    (void)pTexObject, (void)pResDesc, (void)pTexDesc, (void)pResViewDesc;
    nb_after_texture_create(call, (CUresult)result, NULL, NULL, NULL, NULL);
}

void nb_after_hip_texture_destroy(const struct nb_call *call, hipError_t result,
                                  hipTextureObject_t textureObject)
{
    (void)textureObject;
    nb_after_texture_destroy(call, (CUresult)result, 0);
}

void nb_after_hip_surface_create(const struct nb_call *call, hipError_t result,
                                 hipSurfaceObject_t *pSurfObject, const hipResourceDesc *pResDesc)
{
    (void)pSurfObject, (void)pResDesc;
    nb_after_surface_create(call, (CUresult)result, NULL, NULL);
}

void nb_after_hip_surface_destroy(const struct nb_call *call, hipError_t result,
                                  hipSurfaceObject_t surfaceObject)
{
    (void)surfaceObject;
    nb_after_surface_destroy(call, (CUresult)result, 0);
}

void nb_after_hip_module_texture(const struct nb_call *call, hipError_t result, textureReference **texRef,
                                 hipModule_t hmod, const char *name)
{
    (void)texRef, (void)hmod, (void)name;
    nb_after_texture_reference(call, (CUresult)result, NULL, NULL, NULL);
}

void nb_after_hip_texture_reference(const struct nb_call *call, hipError_t result,
                                    const textureReference **texref, const void *symbol)
{
    (void)texref, (void)symbol;
    nb_after_texture_reference(call, (CUresult)result, NULL, NULL, NULL);
}
