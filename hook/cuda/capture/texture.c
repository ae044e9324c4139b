/* A kernel receives texture and surface objects as plain numbers, so a launch does not show that it uses
 * one. */
#include "cuda/capture/texture.h"

#include <cuda.h>

#include <stdatomic.h>

#include "core/region/region.h"
#include "core/region/region_about.h"
#include "cuda/capture/refuse.h"
#include "special.h"

static const char reason[] =
    "texture or surface objects exist; a kernel may read arrays through them, which a capture cannot contain";

/* Number of existing objects, plus references of modules that were looked up, which are not tracked
 * further. Objects destroyed with their context are still counted: the region is then refused needlessly,
 * but never wrong. */
static _Atomic uint64_t object_count;

static void count_object(const struct nb_call *call, CUresult result)
{
    if (result != CUDA_SUCCESS || !nb_capture_enabled())
        return;
    atomic_fetch_add(&object_count, 1);
    if (!nb_region_is_open() || !nb_hook_enter(call))
        return;
    nb_capture_refuse(call, reason);
    nb_hook_leave(call);
}

static void uncount_object(CUresult result)
{
    uint64_t objects = atomic_load(&object_count);
    if (result != CUDA_SUCCESS || !nb_capture_enabled())
        return;
    while (objects != 0 && !atomic_compare_exchange_weak(&object_count, &objects, objects - 1))
        ;
}

void nb_capture_refuse_textures(void)
{
    if (atomic_load(&object_count) != 0)
        nb_region_refuse(reason);
}

void nb_post_texture_create(const struct nb_call *call, CUresult result, CUtexObject *pTexObject,
                            const CUDA_RESOURCE_DESC *pResDesc, const CUDA_TEXTURE_DESC *pTexDesc,
                            const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    (void)pTexObject, (void)pResDesc, (void)pTexDesc, (void)pResViewDesc;
    count_object(call, result);
}

void nb_post_surface_create(const struct nb_call *call, CUresult result, CUsurfObject *pSurfObject,
                            const CUDA_RESOURCE_DESC *pResDesc)
{
    (void)pSurfObject, (void)pResDesc;
    count_object(call, result);
}

void nb_post_texture_destroy(const struct nb_call *call, CUresult result, CUtexObject texObject)
{
    (void)call, (void)texObject;
    uncount_object(result);
}

void nb_post_surface_destroy(const struct nb_call *call, CUresult result, CUsurfObject surfObject)
{
    (void)call, (void)surfObject;
    uncount_object(result);
}

void nb_post_texture_reference(const struct nb_call *call, CUresult result, CUtexref *pTexRef, CUmodule hmod,
                               const char *name)
{
    (void)pTexRef, (void)hmod, (void)name;
    count_object(call, result);
}

void nb_post_surface_reference(const struct nb_call *call, CUresult result, CUsurfref *pSurfRef,
                               CUmodule hmod, const char *name)
{
    (void)pSurfRef, (void)hmod, (void)name;
    count_object(call, result);
}
