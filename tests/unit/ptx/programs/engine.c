/* The PTX engine for Python's ctypes: modules by pointer, memory by a table of ranges. */
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

struct memory {
    uint64_t begin, end;
};

struct table {
    const struct memory *ranges;
    size_t count;
    struct memory own[64]; /* globals */
    size_t own_count;
};

static struct table table;

static bool find(void *context, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable)
{
    const struct table *known = context;
    for (size_t i = 0; i < known->count + known->own_count; i++) {
        const struct memory *range = i < known->count ? &known->ranges[i] : &known->own[i - known->count];
        if (address >= range->begin && address < range->end) {
            *begin = range->begin;
            *end = range->end;
            *writable = true;
            return true;
        }
    }
    return false;
}

static void *allocate(size_t bytes, size_t alignment, void *context)
{
    struct table *known = context;
    void *memory = aligned_alloc(alignment < 16 ? 16 : alignment, (bytes + 4095) & ~(size_t)4095);
    if (known->own_count < 64)
        known->own[known->own_count++] =
            (struct memory){(uint64_t)(uintptr_t)memory, (uint64_t)(uintptr_t)memory + bytes};
    return memory;
}

struct ptx_module *engine_load(const char *text, size_t bytes, char *why, size_t room)
{
    struct ptx_module *module = NULL;
    struct ptx_diagnostic diagnostic = {0};
    if (ptx_module_parse(text, bytes, &module, &diagnostic) != 0) {
        strncpy(why, diagnostic.text, room - 1);
        return NULL;
    }
    table.own_count = 0;
    ptx_module_place(module, allocate, &table);
    return module;
}

int engine_run(struct ptx_module *module, const char *name, const uint32_t *shape, uint32_t shared,
               const void *parameters, const struct memory *ranges, size_t count, uint64_t timeout_ns,
               unsigned workers, char *why, size_t room)
{
    struct ptx_diagnostic diagnostic = {0};
    const struct ptx_kernel *kernel = ptx_module_find_kernel(module, name);
    if (kernel == NULL)
        return -1;
    table.ranges = ranges;
    table.count = count;
    const struct ptx_launch launch = {.kernel = kernel,
                                      .grid = {shape[0], shape[1], shape[2]},
                                      .block = {shape[3], shape[4], shape[5]},
                                      .shared_bytes = shared,
                                      .parameters = parameters,
                                      .memory = {.find = find, .context = &table},
                                      .timeout_ns = timeout_ns,
                                      .workers = workers};
    const enum ptx_status status = ptx_run(&launch, &diagnostic);
    strncpy(why, diagnostic.text, room - 1);
    return (int)status;
}

size_t engine_parameter(struct ptx_module *module, const char *name, size_t index, size_t *offset)
{
    const struct ptx_kernel *kernel = ptx_module_find_kernel(module, name);
    size_t bytes = 0;
    if (kernel != NULL && index < ptx_kernel_parameter_count(kernel))
        ptx_kernel_parameter(kernel, index, offset, &bytes);
    return bytes;
}

size_t engine_parameter_bytes(struct ptx_module *module, const char *name)
{
    return ptx_kernel_parameter_bytes(ptx_module_find_kernel(module, name));
}
