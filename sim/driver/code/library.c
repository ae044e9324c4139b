/* Libraries belong to no context. A context loads a library's code when it first uses one of its kernels. */
#include "driver/code/image.h"
#include "driver/code/jit.h"
#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/stream/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct instance {
    struct instance *next;
    struct sim_context *context;
    struct sim_module *module; /* published, because cuLibraryGetModule returns it */
};

struct sim_library {
    struct sim_object object;
    struct sim_library *next;
    char *text;
    size_t bytes;
    struct ptx_module *ptx; /* for names and attributes only */
    struct sim_kernel *kernels;
    size_t kernel_count;
    struct instance *instances;
};

/* Protects the list of libraries and their instances. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_library *libraries;

static void dispose(struct sim_object *object)
{
    struct sim_library *library = (struct sim_library *)object;
    ptx_module_free(library->ptx);
    free(library->kernels);
    free(library->text);
    free(library);
}

static void dispose_kernel(struct sim_object *object)
{
    (void)object; /* part of the library's memory */
}

static void close_module(struct sim_module *module)
{
    if (sim_object_withdraw(module, SIM_MODULE))
        sim_module_close(module);
}

static void close_library(struct sim_library *library)
{
    for (size_t i = 0; i < library->kernel_count; i++)
        (void)sim_object_withdraw(&library->kernels[i], SIM_KERNEL);
    sim_object_release(library);
}

static CUresult make(const char *text, size_t bytes, struct sim_library **made,
                     struct ptx_diagnostic *diagnostic)
{
    struct sim_library *library = calloc(1, sizeof(*library));
    if (library == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (ptx_module_parse(text, bytes, &library->ptx, diagnostic) != 0) {
        free(library);
        return CUDA_ERROR_INVALID_PTX;
    }
    sim_object_init(&library->object, SIM_LIBRARY, NULL, dispose);
    const size_t count = ptx_module_kernel_count(library->ptx);
    library->text = malloc(bytes);
    library->kernels = calloc(count == 0 ? 1 : count, sizeof(*library->kernels));
    if (library->text == NULL || library->kernels == NULL) {
        sim_object_release(library);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(library->text, text, bytes);
    library->bytes = bytes;
    for (; library->kernel_count < count; library->kernel_count++) {
        struct sim_kernel *kernel = &library->kernels[library->kernel_count];
        sim_object_init(&kernel->object, SIM_KERNEL, NULL, dispose_kernel);
        kernel->library = library;
        kernel->index = library->kernel_count;
        kernel->ptx = ptx_module_kernel(library->ptx, kernel->index);
        sim_settings_init(&kernel->settings, kernel->ptx);
        if (!sim_object_publish(kernel)) {
            close_library(library);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    *made = library;
    return CUDA_SUCCESS;
}

static CUresult load(CUlibrary *handle, const void *image, size_t bytes, CUjit_option *options, void **values,
                     unsigned count)
{
    struct sim_jit jit;
    struct sim_text text;
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || image == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_jit_options(&jit, count, options, values);
    if (result != CUDA_SUCCESS)
        return result;
    struct ptx_diagnostic diagnostic = {0};
    struct sim_library *library = NULL;
    result = sim_image_text(image, bytes, &jit, &text);
    if (result == CUDA_SUCCESS) {
        result = make(text.text, text.bytes, &library, &diagnostic);
        sim_image_release(&text);
    }
    if (diagnostic.text[0] != '\0')
        sim_jit_log_refusal(&jit, &diagnostic);
    if (result == CUDA_SUCCESS)
        sim_jit_describe(&jit, library->ptx);
    sim_jit_finish(&jit, result);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_object_publish(library)) {
        close_library(library);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    library->next = libraries;
    libraries = library;
    pthread_mutex_unlock(&lock);
    *handle = (CUlibrary)library;
    return CUDA_SUCCESS;
}

static bool options_are_known(const CUlibraryOption *options, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (options == NULL || (unsigned)options[i] >= CU_LIBRARY_NUM_OPTIONS)
            return false;
    return true;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                           void **jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions)
{
    (void)libraryOptionValues;
    if (!options_are_known(libraryOptions, numLibraryOptions))
        return CUDA_ERROR_INVALID_VALUE;
    return load(library, code, SIM_IMAGE_UNSIZED, jitOptions, jitOptionsValues, numJitOptions);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions)
{
    void *image;
    size_t bytes;
    (void)libraryOptionValues;
    if (fileName == NULL || !options_are_known(libraryOptions, numLibraryOptions))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numLibraryOptions; i++)
        if (libraryOptions[i] == CU_LIBRARY_BINARY_IS_PRESERVED) /* a file's bytes are not preserved */
            return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_image_read(fileName, &image, &bytes);
    if (result != CUDA_SUCCESS)
        return result;
    result = load(library, image, bytes, jitOptions, jitOptionsValues, numJitOptions);
    free(image);
    return result;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_library *self = sim_object_find(library, SIM_LIBRARY);
    if (self == NULL || !sim_object_withdraw(self, SIM_LIBRARY))
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&lock);
    for (struct sim_library **link = &libraries; *link != NULL; link = &(*link)->next)
        if (*link == self) {
            *link = self->next;
            break;
        }
    struct instance *instances = self->instances;
    self->instances = NULL;
    pthread_mutex_unlock(&lock);
    while (instances != NULL) {
        struct instance *next = instances->next;
        (void)sim_context_synchronize(instances->context);
        close_module(instances->module);
        free(instances);
        instances = next;
    }
    close_library(self);
    return CUDA_SUCCESS;
}

void sim_library_forget_context(struct sim_context *context)
{
    pthread_mutex_lock(&lock);
    for (struct sim_library *library = libraries; library != NULL; library = library->next)
        for (struct instance **link = &library->instances; *link != NULL;) {
            struct instance *instance = *link;
            if (instance->context != context) {
                link = &instance->next;
                continue;
            }
            *link = instance->next;
            close_module(instance->module); /* unless the end of the context has closed it */
            free(instance);
        }
    pthread_mutex_unlock(&lock);
}

/* The library's module in a context, loaded at first use. Holds the lock while loading, so that two threads
 * do not both load it. */
static CUresult load_module(struct sim_context *context, struct sim_library *library,
                            struct sim_module **module)
{
    CUresult result = CUDA_SUCCESS;
    struct ptx_diagnostic diagnostic;
    pthread_mutex_lock(&lock);
    struct instance *instance = library->instances;
    while (instance != NULL && instance->context != context)
        instance = instance->next;
    if (instance == NULL) {
        instance = calloc(1, sizeof(*instance));
        result = instance == NULL ? CUDA_ERROR_OUT_OF_MEMORY
                                  : sim_module_make(context, library->text, library->bytes, &instance->module,
                                                    &diagnostic);
        if (result == CUDA_SUCCESS && !sim_object_publish(instance->module)) {
            sim_module_close(instance->module);
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
        if (result == CUDA_SUCCESS) {
            instance->module->of_library = true;
            instance->context = context;
            instance->next = library->instances;
            library->instances = instance;
            for (size_t i = 0; i < library->kernel_count; i++)
                instance->module->functions[i].settings = &library->kernels[i].settings;
        } else {
            free(instance);
        }
    }
    if (result == CUDA_SUCCESS)
        *module = instance->module;
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult sim_kernel_function(struct sim_context *context, struct sim_kernel *kernel,
                             struct sim_function **function)
{
    struct sim_module *module;
    const CUresult result = load_module(context, kernel->library, &module);
    if (result == CUDA_SUCCESS)
        *function = &module->functions[kernel->index];
    return result;
}

static CUresult find(CUlibrary handle, const void *out, struct sim_library **library)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *library = sim_object_find(handle, SIM_LIBRARY);
    return *library == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    struct sim_library *self;
    const CUresult result = find(library, pKernel, &self);
    if (result != CUDA_SUCCESS)
        return result;
    if (name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < self->kernel_count; i++)
        if (strcmp(ptx_kernel_name(self->kernels[i].ptx), name) == 0) {
            *pKernel = (CUkernel)&self->kernels[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    struct sim_context *context;
    struct sim_library *self;
    struct sim_module *module;
    CUresult result = find(library, pMod, &self);
    if (result == CUDA_SUCCESS)
        result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = load_module(context, self, &module);
    if (result == CUDA_SUCCESS)
        *pMod = (CUmodule)module;
    return result;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    CUmodule module;
    const CUresult result = cuLibraryGetModule(&module, library);
    return result == CUDA_SUCCESS ? cuModuleGetGlobal_v2(dptr, bytes, module, name) : result;
}

CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    struct sim_library *self;
    const CUresult result = find(library, name, &self);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL && bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct ptx_variable *global = ptx_module_find_global(self->ptx, name);
    return global != NULL && ptx_variable_is_managed(global) ? cuLibraryGetGlobal(dptr, bytes, library, name)
                                                             : CUDA_ERROR_NOT_FOUND;
}

/* This device has no unified function pointers. The manual says that the call "may" then return
 * CUDA_ERROR_NOT_FOUND; on an H200, which has none either, driver 580.159 returns CUDA_ERROR_INVALID_VALUE.
 */
CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol)
{
    struct sim_library *self;
    const CUresult result = find(library, fptr, &self);
    (void)symbol;
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}

#if CUDA_VERSION >= 12040
CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    struct sim_library *self;
    const CUresult result = find(lib, count, &self);
    if (result == CUDA_SUCCESS)
        *count = (unsigned)self->kernel_count;
    return result;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    struct sim_library *self;
    const CUresult result = find(lib, kernels, &self);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < numKernels && i < self->kernel_count; i++)
        kernels[i] = (CUkernel)&self->kernels[i];
    return result;
}
#endif
