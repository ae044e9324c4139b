/* Adds code that the driver accepts (modules, libraries, link products) to the binmap and removes it
 * again. */
#include <cuda.h>

#include "core/driver/slots.h"
#include "core/maps/binmap.h"
#include "core/maps/funcmap.h"
#include "core/maps/links.h"
#include "core/probe/mailbox.h"
#include "core/process/call.h"
#include "core/region/region.h"
#include "cuda/capture/global.h"
#include "cuda/capture/module.h"
#include "cuda/kernel/handle.h"
#include "cuda/memory/memory.h"
#include "cuda/probe/graph.h"
#include "cuda/probe/kernel.h"
#include "cuda/time/launch_time.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static uint64_t query_context(void)
{
    CUcontext context = NULL;
    return NB_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS ? nb_handle(context) : 0;
}

void nb_post_module_load(const struct nb_call *call, CUresult result, CUmodule *module, const void *image)
{
    nb_post_module_load_ex(call, result, module, image, 0, NULL, NULL);
}

void nb_post_module_load_ex(const struct nb_call *call, CUresult result, CUmodule *module, const void *image,
                            unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    if (result != CUDA_SUCCESS || module == NULL || !nb_hook_enter(call))
        return;
    nb_binmap_load(call, nb_handle(*module), query_context(), image, 0);
    if (nb_capture_enabled())
        nb_capture_keep_load_options(nb_handle(*module), numOptions, options, optionValues);
    nb_hook_leave(call);
}

void nb_post_module_load_file(const struct nb_call *call, CUresult result, CUmodule *module, const char *path)
{
    if (result != CUDA_SUCCESS || module == NULL || !nb_hook_enter(call))
        return;
    nb_binmap_load_file(call, nb_handle(*module), query_context(), path);
    nb_hook_leave(call);
}

void nb_post_library_load(const struct nb_call *call, CUresult result, CUlibrary *library, const void *code,
                          CUjit_option *jitOptions, void **jitOptionsValues, unsigned int numJitOptions,
                          CUlibraryOption *libraryOptions, void **libraryOptionValues,
                          unsigned int numLibraryOptions)
{
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    if (result != CUDA_SUCCESS || library == NULL || !nb_hook_enter(call))
        return;
    nb_binmap_load(call, nb_handle(*library), 0, code, 0);
    if (nb_capture_enabled())
        nb_capture_keep_load_options(nb_handle(*library), numJitOptions, jitOptions, jitOptionsValues);
    nb_hook_leave(call);
}

void nb_post_library_load_file(const struct nb_call *call, CUresult result, CUlibrary *library,
                               const char *fileName, CUjit_option *jitOptions, void **jitOptionsValues,
                               unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                               void **libraryOptionValues, unsigned int numLibraryOptions)
{
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    if (result != CUDA_SUCCESS || library == NULL || !nb_hook_enter(call))
        return;
    nb_binmap_load_file(call, nb_handle(*library), 0, fileName);
    if (nb_capture_enabled())
        nb_capture_keep_load_options(nb_handle(*library), numJitOptions, jitOptions, jitOptionsValues);
    nb_hook_leave(call);
}

static void trace_unload(const struct nb_call *call, CUresult result, uint64_t handle)
{
    const struct nb_binary *binary = nb_binmap_get(handle);
    if (result != CUDA_SUCCESS || binary == NULL || call->thread == NULL)
        return;
    if (nb_region_is_open() && nb_hook_enter(call)) {
        nb_capture_unload_globals(call, binary);
        nb_hook_leave(call);
    }
    if (nb_probing() && nb_hook_enter(call)) {
        nb_probe_unload(binary);
        nb_hook_leave(call);
    }
    nb_funcmap_unload(binary->number);
    nb_binmap_unload(binary->number);
}

void nb_post_module_unload(const struct nb_call *call, CUresult result, CUmodule module)
{
    trace_unload(call, result, nb_handle(module));
}

void nb_post_library_unload(const struct nb_call *call, CUresult result, CUlibrary library)
{
    trace_unload(call, result, nb_handle(library));
}

void nb_post_library_module(const struct nb_call *call, CUresult result, CUmodule *module, CUlibrary library)
{
    if (result == CUDA_SUCCESS && module != NULL && call->thread != NULL)
        nb_binmap_alias(nb_handle(*module), nb_handle(library));
}

/* Machine code that the linker makes of PTX lacks the PTX. It is kept for probes. */
void nb_post_link_add(const struct nb_call *call, CUresult result, CUlinkState state, CUjitInputType type,
                      void *data, size_t size, const char *name, unsigned int numOptions,
                      CUjit_option *options, void **optionValues)
{
    (void)name, (void)numOptions, (void)options, (void)optionValues;
    if (!nb_probing() || result != CUDA_SUCCESS || type != CU_JIT_INPUT_PTX || !nb_hook_enter(call))
        return;
    nb_links_add(nb_handle(state), data, size);
    nb_hook_leave(call);
}

/* A link product is an image like any other once it is loaded. A later load trusts this size more than the
 * image's own headers. */
void nb_post_link_complete(const struct nb_call *call, CUresult result, CUlinkState state, void **cubinOut,
                           size_t *sizeOut)
{
    if (result != CUDA_SUCCESS || cubinOut == NULL || !nb_hook_enter(call))
        return;
    nb_binmap_load(call, nb_handle(state), 0, *cubinOut, sizeOut != NULL ? *sizeOut : 0);
    const struct nb_binary *product = nb_binmap_get(nb_handle(state));
    if (nb_probing() && product != NULL)
        nb_links_complete(nb_handle(state), *cubinOut, product->bytes);
    nb_hook_leave(call);
}

void nb_post_link_destroy(const struct nb_call *call, CUresult result, CUlinkState state)
{
    trace_unload(call, result, nb_handle(state));
    if (result == CUDA_SUCCESS && nb_probing() && nb_hook_enter(call)) {
        nb_links_destroy(nb_handle(state));
        nb_hook_leave(call);
    }
}

void nb_post_context_destroy(const struct nb_call *call, CUresult result, CUcontext context)
{
    if (result != CUDA_SUCCESS || call->thread == NULL)
        return;
    if (nb_probing() && nb_hook_enter(call)) {
        nb_probe_forget_context(call, nb_handle(context));
        nb_hook_leave(call);
    }
    nb_launch_time_forget_context(nb_handle(context));
    nb_funcmap_unload_context(nb_handle(context));
    nb_binmap_unload_context(nb_handle(context));
    if (nb_capture_enabled())
        nb_memory_forget_context(nb_handle(context));
}
