#include "cuda/capture/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/handle_map.h"
#include "core/driver/slots.h"
#include "core/region/raw_capture.h"
#include "core/wire/capture_format.h"
#include "cuda/capture/module.h"
#include "cuda/capture/refuse.h"
#include "cuda/capture/symbol.h"
#include "cuda/kernel/function.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/parameters.h"
#include "cuda/memory/foreign.h"
#include "real.h"
#include "surface.h"

/* Limit of a kernel's parameters in bytes (CUDA programming guide: 32,764 from sm_70 on). */
#define PARAMETERS_MAX 32768u
/* Shared memory of a block without cuFuncSetAttribute: 48 KiB. */
#define SHARED_DEFAULT 49152
#define SETTINGS_MAX   8u

/* A kernel element of this capture. A function has one for each combination of settings. */
struct variant {
    struct variant *next;
    uint32_t index;
    uint32_t count;
    struct nb_capture_setting settings[SETTINGS_MAX];
};

static struct nb_handle_map variants = NB_HANDLE_MAP_INITIALIZER; /* first variant, by struct nb_function */

static bool query_attribute(const struct nb_function *function, CUfunction_attribute attribute, int *value)
{
    CUdevice device;
    if (function->kind != NB_FUNCTION_KERNEL)
        return NB_REAL(cuFuncGetAttribute)(value, attribute, (CUfunction)function->handle) == CUDA_SUCCESS;
    return NB_REAL(cuCtxGetDevice)(&device) == CUDA_SUCCESS &&
           NB_REAL(cuKernelGetAttribute)(value, attribute, (CUkernel)function->handle, device) ==
               CUDA_SUCCESS;
}

/* Collect the attributes that differ from those of a newly loaded kernel. */
static uint32_t collect_settings(const struct nb_function *function, uint32_t static_shared_bytes,
                                 struct nb_capture_setting *settings)
{
    const struct {
        CUfunction_attribute attribute;
        int default_value;
    } queried[] = {
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED_DEFAULT - (int)static_shared_bytes},
        {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 0},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 0},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 0},
        {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 0}};
    _Static_assert(sizeof queried / sizeof *queried <= SETTINGS_MAX, "a variant holds all of them");
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof queried / sizeof *queried; i++) {
        int value = queried[i].default_value;
        if (query_attribute(function, queried[i].attribute, &value) && value != queried[i].default_value)
            settings[count++] = (struct nb_capture_setting){(uint32_t)queried[i].attribute, value};
    }
    return count;
}

static const struct variant *find_variant(const struct nb_function *function, const struct variant *queried)
{
    const struct variant *variant = nb_handle_map_get(&variants, nb_handle(function));
    while (variant != NULL &&
           (variant->count != queried->count ||
            memcmp(variant->settings, queried->settings, queried->count * sizeof *queried->settings) != 0))
        variant = variant->next;
    return variant;
}

static uint32_t refuse(const struct nb_call *call, const char *kernel, const char *why)
{
    char reason[512];
    snprintf(reason, sizeof reason, "kernel %.300s %s", kernel, why);
    nb_capture_refuse(call, reason);
    return NB_NOTHING;
}

static uint32_t append_kernel(const struct nb_function *function, const struct nb_description *description,
                              uint32_t module, const struct variant *variant)
{
    const struct nb_kernel_facts *facts = &description->facts;
    const size_t name_bytes = strlen(function->name);
    const size_t layout_bytes = description->parameter_count * sizeof *description->layout;
    const size_t settings_bytes = variant->count * sizeof *variant->settings;
    struct nb_capture_kernel kernel = {.module = module,
                                       .parameter_bytes = description->parameter_bytes,
                                       .registers = facts->registers,
                                       .static_shared_bytes = facts->static_shared_bytes,
                                       .local_bytes = facts->local_bytes,
                                       .max_threads = facts->max_threads};
    kernel.layout = (struct nb_span){sizeof kernel, layout_bytes};
    kernel.attributes = (struct nb_span){sizeof kernel + layout_bytes, settings_bytes};
    kernel.name = (struct nb_span){sizeof kernel + layout_bytes + settings_bytes, name_bytes};
    const struct nb_piece pieces[] = {{&kernel, sizeof kernel},
                                      {description->layout, layout_bytes},
                                      {variant->settings, settings_bytes},
                                      {function->name, name_bytes}};
    return nb_raw_capture_append(NB_CAPTURE_KERNEL, pieces, 4);
}

/* Two threads may both write a kernel at its first use. The duplicate element does no harm. */
static uint32_t write_kernel(const struct nb_call *call, const struct nb_function *function,
                             const struct nb_description *description, const struct variant *queried)
{
    CUfunction handle = (CUfunction)function->handle;
    if (function->kind == NB_FUNCTION_KERNEL &&
        NB_REAL(cuKernelGetFunction)(&handle, (CUkernel)function->handle) != CUDA_SUCCESS)
        return refuse(call, function->name,
                      "belongs to a library, but the driver does not return its function");
    const uint32_t module = nb_capture_write_module(call, function->binary, function->name, handle);
    if (module == NB_NOTHING)
        return NB_NOTHING;
    struct variant *variant = malloc(sizeof *variant);
    if (variant == NULL) {
        nb_capture_refuse_incomplete();
        return NB_NOTHING;
    }
    *variant = *queried;
    variant->index = append_kernel(function, description, module, variant);
    variant->next = nb_handle_map_get(&variants, nb_handle(function));
    nb_handle_map_set(&variants, nb_handle(function), variant);
    return variant->index;
}

uint32_t nb_capture_write_kernel(const struct nb_call *call, CUfunction handle)
{
    const struct nb_description *description = nb_describe(call->thread, handle);
    const struct nb_function *function = nb_funcmap_get(nb_handle(handle));
    if (function == NULL || description == NULL)
        return refuse(call, function != NULL ? function->name : "", "is unknown: its record was lost");
    struct variant queried = {.next = NULL};
    queried.count = collect_settings(function, description->facts.static_shared_bytes, queried.settings);
    const struct variant *known_variant = find_variant(function, &queried);
    return known_variant != NULL ? known_variant->index : write_kernel(call, function, description, &queried);
}

struct nb_capture_parameters nb_capture_copy_parameters(const struct nb_call *call, CUfunction handle,
                                                        void **kernelParams, void **extra)
{
    const struct nb_capture_parameters no_parameters = {NULL, 0};
    const struct nb_description *description = nb_describe(call->thread, handle);
    const struct nb_function *function = nb_funcmap_get(nb_handle(handle));
    if (function == NULL || description == NULL)
        return no_parameters; /* nb_capture_write_kernel has refused it */
    if (kernelParams != NULL && description->facts.layout_source == NB_LAYOUT_UNKNOWN) {
        refuse(call, function->name,
               "has parameters of unknown size: neither the driver nor its code gives the layout");
        return no_parameters;
    }
    struct nb_parameters parameters = nb_locate_parameters(description, kernelParams, extra);
    if (parameters.bytes > PARAMETERS_MAX) {
        refuse(call, function->name, "has more bytes of parameters than CUDA allows");
        return no_parameters;
    }
    parameters.kept_bytes = parameters.bytes;
    const struct nb_capture_parameters copy = {calloc(1, (parameters.bytes + 15) & ~7u), parameters.bytes};
    if (copy.start == NULL) {
        nb_capture_refuse_incomplete();
        return no_parameters;
    }
    nb_copy_parameters(&parameters, description, copy.start);
    return copy;
}

void nb_capture_find_globals(struct nb_capture_parameters parameters)
{
    for (uint32_t offset = 0; offset + 8 <= parameters.bytes; offset += 8) {
        uint64_t word, delta;
        uint32_t global;
        memcpy(&word, (const char *)parameters.start + offset, sizeof word);
        nb_capture_find_global(word, &global, &delta);
    }
}

void nb_capture_check_parameters(const struct nb_call *call, uint32_t operation, const void *parameters,
                                 uint32_t bytes)
{
    for (uint32_t offset = 0; offset + 8 <= bytes; offset += 8) {
        uint64_t word;
        struct nb_capture_relocation relocation = {.operation = operation, .offset = offset};
        memcpy(&word, (const char *)parameters + offset, sizeof word);
        if (nb_capture_find_global(word, &relocation.global, &relocation.delta)) {
            const struct nb_piece piece = {&relocation, sizeof relocation};
            nb_raw_capture_append(NB_CAPTURE_RELOCATION, &piece, 1);
            continue;
        }
        const char *foreign = nb_foreign_find(word);
        if (foreign != NULL) {
            char reason[192];
            snprintf(reason, sizeof reason,
                     "a kernel receives the address of %.100s, which a capture cannot contain", foreign);
            if (nb_foreign_is_host(word))
                nb_capture_refuse_address(call, reason);
            else
                nb_capture_refuse(call, reason);
        }
    }
}

static void forget(void)
{
    nb_handle_map_forget(&variants);
}

static void reset(void)
{
    pthread_mutex_lock(&variants.lock);
    forget();
    pthread_mutex_unlock(&variants.lock);
}

const struct nb_component nb_capture_kernel_component = {
    .locks = {&variants.lock}, .forget = forget, .reset = reset};
