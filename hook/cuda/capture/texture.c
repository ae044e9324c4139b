/* Texture and surface objects: a kernel is given them as numbers, so no launch shows that it uses one. */
#include "cuda/capture/texture.h"

#include <cuda.h>

#include <stdatomic.h>

#include "core/region/region.h"
#include "core/region/region_about.h"
#include "cuda/capture/refuse.h"
#include "special.h"

static const char reason[] =
    "texture or surface objects exist; a kernel may read arrays through them, which a capture does not hold";

/* Those that live, and the references of modules that were looked up, which are not followed further. An
 * object that went with its context is still counted: a recording is then refused, not wrong. */
static _Atomic uint64_t count;

static void made(const struct nb_call *call, CUresult result)
{
    if (result != CUDA_SUCCESS || !nb_region_wanted())
        return;
    atomic_fetch_add(&count, 1);
    if (!nb_region_is_open() || !nb_hook_enter(call))
        return;
    nb_capture_refuse(call, reason);
    nb_hook_leave(call);
}

static void destroyed(CUresult result)
{
    uint64_t living = atomic_load(&count);
    if (result != CUDA_SUCCESS || !nb_region_wanted())
        return;
    while (living != 0 && !atomic_compare_exchange_weak(&count, &living, living - 1))
        ;
}

void nb_capture_textures(void)
{
    if (atomic_load(&count) != 0)
        nb_region_refuse(reason);
}

void nb_after_texture_create(const struct nb_call *call, CUresult result, CUtexObject *pTexObject,
                             const CUDA_RESOURCE_DESC *pResDesc, const CUDA_TEXTURE_DESC *pTexDesc,
                             const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    (void)pTexObject, (void)pResDesc, (void)pTexDesc, (void)pResViewDesc;
    made(call, result);
}

void nb_after_surface_create(const struct nb_call *call, CUresult result, CUsurfObject *pSurfObject,
                             const CUDA_RESOURCE_DESC *pResDesc)
{
    (void)pSurfObject, (void)pResDesc;
    made(call, result);
}

void nb_after_texture_destroy(const struct nb_call *call, CUresult result, CUtexObject texObject)
{
    (void)call, (void)texObject;
    destroyed(result);
}

void nb_after_surface_destroy(const struct nb_call *call, CUresult result, CUsurfObject surfObject)
{
    (void)call, (void)surfObject;
    destroyed(result);
}

void nb_after_texture_reference(const struct nb_call *call, CUresult result, CUtexref *pTexRef, CUmodule hmod,
                                const char *name)
{
    (void)pTexRef, (void)hmod, (void)name;
    made(call, result);
}

void nb_after_surface_reference(const struct nb_call *call, CUresult result, CUsurfref *pSurfRef,
                                CUmodule hmod, const char *name)
{
    (void)pSurfRef, (void)hmod, (void)name;
    made(call, result);
}
