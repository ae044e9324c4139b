#include "core/maps/funcmap.h"

#include <stdlib.h>
#include <string.h>

#include "core/image/layout.h"
#include "core/ring/clock.h"

struct nb_handle_map nb_functions = NB_HANDLE_MAP_INITIALIZER;
static _Atomic uint64_t last_number;

struct nb_function *nb_funcmap_set(uint64_t handle, enum nb_function_kind kind,
                                   const struct nb_binary *binary, const char *name)
{
    struct nb_function *function = nb_funcmap_get(handle);
    if (function != NULL && function->binary == binary && strcmp(function->name, name) == 0)
        return function;
    const size_t length = strnlen(name, NB_STRING_MAX);
    function = calloc(1, sizeof *function + length + 1);
    if (function == NULL)
        return NULL;
    function->handle = handle;
    function->kind = kind;
    function->binary = binary;
    memcpy(function->name, name, length);
    nb_handle_map_set(&nb_functions, handle, function);
    return function;
}

void nb_funcmap_derive(uint64_t handle, uint64_t kernel)
{
    const struct nb_function *from = nb_funcmap_get(kernel);
    if (from != NULL)
        nb_funcmap_set(handle, NB_FUNCTION, from->binary, from->name);
}

static void fill_record(struct nb_kernel *record, size_t size, const struct nb_function *function,
                        uint64_t number, const struct nb_kernel_facts *facts)
{
    const uint64_t now = nb_clock();
    memset(record, 0, size);
    record->record = (struct nb_record){.size = (uint32_t)size,
                                        .kind = NB_RECORD_KERNEL,
                                        .begin = now,
                                        .end = now,
                                        .count = facts->parameter_count};
    record->kernel = number;
    record->handle = function->handle;
    record->image = function->binary != NULL ? function->binary->number : 0;
    record->registers = facts->registers;
    record->static_shared_bytes = facts->static_shared_bytes;
    record->local_bytes = facts->local_bytes;
    record->constant_bytes = facts->constant_bytes;
    record->max_threads = facts->max_threads;
    record->binary_version = facts->binary_version;
    record->layout_source = facts->layout_source;
    record->name_bytes = (uint32_t)strlen(function->name);
    char *text = (char *)(record + 1);
    const size_t layout_bytes = facts->parameter_count * sizeof *facts->layout;
    if (layout_bytes != 0)
        memcpy(text, facts->layout, layout_bytes);
    memcpy(text + layout_bytes, function->name, record->name_bytes);
}

static uint32_t buffer_bytes(const struct nb_kernel_facts *facts)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < facts->parameter_count; i++) {
        const uint64_t end = (uint64_t)facts->layout[i].offset + facts->layout[i].size;
        bytes = end > bytes && end <= UINT32_MAX ? (uint32_t)end : bytes;
    }
    return bytes;
}

static bool has_holes(const struct nb_kernel_facts *facts, uint32_t bytes)
{
    uint64_t covered = 0;
    for (uint32_t i = 0; i < facts->parameter_count; i++)
        covered += facts->layout[i].size;
    return covered != bytes;
}

const struct nb_description *nb_funcmap_describe(struct nb_thread *thread, struct nb_function *function,
                                                 const struct nb_kernel_facts *facts)
{
    const size_t layout_bytes = facts->parameter_count * sizeof *facts->layout;
    const size_t size = (sizeof(struct nb_kernel) + layout_bytes + strlen(function->name) + 7) & ~(size_t)7;
    struct nb_description *description = calloc(1, sizeof *description + layout_bytes);
    struct nb_kernel *record =
        description != NULL && size <= NB_RECORD_MAX ? nb_ring_reserve(thread, size) : NULL;
    if (record == NULL) {
        free(description);
        return NULL;
    }
    description->number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    description->parameter_bytes = buffer_bytes(facts);
    description->holes = has_holes(facts, description->parameter_bytes);
    description->parameter_count = facts->parameter_count;
    if (layout_bytes != 0)
        memcpy(description->layout, facts->layout, layout_bytes);
    description->facts = *facts;
    description->facts.layout = description->layout;
    fill_record(record, size, function, description->number, facts);
    nb_ring_commit(thread, size);
    const struct nb_description *first = NULL;
    if (!atomic_compare_exchange_strong_explicit(&function->description, &first, description,
                                                 memory_order_acq_rel, memory_order_acquire)) {
        free(description);
        return first;
    }
    return description;
}

static int has_image(const void *value, uint64_t image)
{
    const struct nb_binary *binary = ((const struct nb_function *)value)->binary;
    return binary != NULL && binary->number == image;
}

static int has_context(const void *value, uint64_t context)
{
    const struct nb_binary *binary = ((const struct nb_function *)value)->binary;
    return binary != NULL && binary->context == context;
}

void nb_funcmap_unload(uint64_t image)
{
    nb_handle_map_remove_if(&nb_functions, has_image, image);
}

void nb_funcmap_unload_context(uint64_t context)
{
    if (context != 0)
        nb_handle_map_remove_if(&nb_functions, has_context, context);
}

static void forget(void)
{
    nb_handle_map_forget(&nb_functions);
}

const struct nb_component nb_funcmap_component = {.locks = {&nb_functions.lock}, .forget = forget};
