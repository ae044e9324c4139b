#include "driver/code/module.h"

#include "driver/context/context.h"
#include "driver/memory/memory.h"

#include <stdlib.h>

static void dispose(struct sim_object *object)
{
    struct sim_module *module = (struct sim_module *)object;
    for (size_t i = 0; i < module->global_count; i++)
        (void)sim_memory_free(module->globals[i], 1u << SIM_MEMORY_GLOBAL);
    for (size_t i = 0; i < module->function_count; i++)
        free(module->functions[i].legacy);
    ptx_module_free(module->ptx);
    free(module->globals);
    free(module->functions);
    free(module);
}

/* A function is part of its module's memory. */
static void dispose_function(struct sim_object *object)
{
    (void)object;
}

static void *allocate_global(size_t bytes, size_t alignment, void *argument)
{
    struct sim_module *module = argument;
    uint64_t *globals = realloc(module->globals, (module->global_count + 1) * sizeof(*globals));
    if (globals == NULL)
        return NULL;
    module->globals = globals;
    if (alignment > 512)
        return NULL; /* above the alignment of every PTX type */
    const uint64_t address =
        sim_memory_allocate(SIM_MEMORY_GLOBAL, bytes == 0 ? 1 : bytes, 0, module->object.context);
    if (address != 0)
        globals[module->global_count++] = address;
    return (void *)(uintptr_t)address;
}

void sim_settings_init(struct sim_settings *settings, const struct ptx_kernel *kernel)
{
    struct ptx_kernel_attributes attributes;
    ptx_kernel_attributes(kernel, &attributes);
    const int rest = 49152 - (int)attributes.shared_bytes;
    atomic_init(&settings->max_dynamic_shared, rest < 0 ? 0 : rest);
    atomic_init(&settings->carveout, -1);
    atomic_init(&settings->nonportable_cluster, 0);
    atomic_init(&settings->cluster_policy, 0);
}

static void end(void *module)
{
    sim_module_close(module);
}

CUresult sim_module_make(struct sim_context *context, const char *text, size_t bytes,
                         struct sim_module **made, struct ptx_diagnostic *diagnostic)
{
    struct sim_module *module = calloc(1, sizeof(*module));
    if (module == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (ptx_module_parse(text, bytes, &module->ptx, diagnostic) != 0) {
        free(module);
        return CUDA_ERROR_INVALID_PTX;
    }
    sim_object_init(&module->object, SIM_MODULE, context, dispose);
    module->object.end = end;
    const size_t count = ptx_module_kernel_count(module->ptx);
    module->functions = calloc(count == 0 ? 1 : count, sizeof(*module->functions));
    if (module->functions == NULL || ptx_module_place(module->ptx, allocate_global, module) != 0) {
        sim_object_release(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (; module->function_count < count; module->function_count++) {
        struct sim_function *function = &module->functions[module->function_count];
        sim_object_init(&function->object, SIM_FUNCTION, context, dispose_function);
        function->module = module;
        function->ptx = ptx_module_kernel(module->ptx, module->function_count);
        function->settings = &function->own;
        sim_settings_init(&function->own, function->ptx);
        if (!sim_object_publish(function)) {
            sim_module_close(module);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    *made = module;
    return CUDA_SUCCESS;
}

void sim_module_close(struct sim_module *module)
{
    for (size_t i = 0; i < module->function_count; i++)
        (void)sim_object_withdraw(&module->functions[i], SIM_FUNCTION);
    sim_object_release(module);
}
