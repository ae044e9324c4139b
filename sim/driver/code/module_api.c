/* cuModule*. */
#include "driver/capture/capture.h"
#include "driver/code/image.h"
#include "driver/code/jit.h"
#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <string.h>

static CUresult load(CUmodule *handle, const void *image, size_t bytes, unsigned count, CUjit_option *options,
                     void **values)
{
    struct sim_context *context;
    struct sim_jit jit;
    struct sim_text text;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || image == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_jit_options(&jit, count, options, values);
    if (result != CUDA_SUCCESS)
        return result;
    struct ptx_diagnostic diagnostic = {0};
    struct sim_module *module = NULL;
    result = sim_image_text(image, bytes, &jit, &text);
    if (result == CUDA_SUCCESS) {
        result = sim_module_make(context, text.text, text.bytes, &module, &diagnostic);
        sim_image_release(&text);
    }
    if (diagnostic.text[0] != '\0')
        sim_jit_log_refusal(&jit, &diagnostic);
    if (result == CUDA_SUCCESS)
        sim_jit_describe(&jit, module->ptx);
    if (result == CUDA_SUCCESS && !sim_object_publish(module)) {
        sim_module_close(module);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_jit_finish(&jit, result);
    if (result == CUDA_SUCCESS)
        *handle = (CUmodule)module;
    return result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return load(module, image, SIM_IMAGE_UNSIZED, 0, NULL, NULL);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **optionValues)
{
    return load(module, image, SIM_IMAGE_UNSIZED, numOptions, options, optionValues);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return load(module, fatCubin, SIM_IMAGE_UNSIZED, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
    struct sim_context *context;
    void *image;
    size_t bytes;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (fname == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_image_read(fname, &image, &bytes);
    if (result != CUDA_SUCCESS)
        return result;
    result = load(module, image, bytes, 0, NULL, NULL);
    free(image);
    return result;
}

/* Waits for the context's work: kernels of the module may be running. */
CUresult cuModuleUnload(CUmodule hmod)
{
    struct sim_context *context;
    CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_module *module = sim_object_find(hmod, SIM_MODULE);
    if (module == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (module->of_library)
        return CUDA_ERROR_NOT_PERMITTED;
    result = sim_context_synchronize(context);
    if (!sim_object_withdraw(hmod, SIM_MODULE))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_module_close((struct sim_module *)hmod);
    return result;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (mode == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

static CUresult find(CUmodule hmod, const void *out, struct sim_module **module)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *module = sim_object_find(hmod, SIM_MODULE);
    return *module == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    struct sim_module *module;
    const CUresult result = find(hmod, hfunc, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < module->function_count; i++)
        if (strcmp(ptx_kernel_name(module->functions[i].ptx), name) == 0) {
            *hfunc = (CUfunction)&module->functions[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

#if CUDA_VERSION >= 12040
CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    struct sim_module *module;
    const CUresult result = find(mod, count, &module);
    if (result == CUDA_SUCCESS)
        *count = (unsigned)module->function_count;
    return result;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
    struct sim_module *module;
    const CUresult result = find(mod, functions, &module);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < numFunctions && i < module->function_count; i++)
        functions[i] = (CUfunction)&module->functions[i];
    return result;
}
#endif

CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    struct sim_module *module;
    const CUresult result = find(hmod, name, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL && bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct ptx_variable *global = ptx_module_find_global(module->ptx, name);
    if (global == NULL)
        return CUDA_ERROR_NOT_FOUND;
    if (dptr != NULL)
        *dptr = ptx_variable_address(global);
    if (bytes != NULL)
        *bytes = ptx_variable_bytes(global);
    return CUDA_SUCCESS;
}
