/* Queries on a module, and the memory of its globals. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/matrix.h"
#include "ptx/program.h"

unsigned ptx_type_bytes(enum type type)
{
    static const unsigned char bytes[] = {
        [T_NONE] = 0,   [T_PRED] = 1,  [T_B8] = 1,    [T_B16] = 2,   [T_B32] = 4,    [T_B64] = 8,
        [T_U8] = 1,     [T_U16] = 2,   [T_U32] = 4,   [T_U64] = 8,   [T_S8] = 1,     [T_S16] = 2,
        [T_S32] = 4,    [T_S64] = 8,   [T_F16] = 2,   [T_F16X2] = 4, [T_BF16] = 2,   [T_BF16X2] = 4,
        [T_F32] = 4,    [T_F64] = 8,   [T_TF32] = 4,  [T_E4M3] = 1,  [T_E4M3X2] = 2, [T_E5M2] = 1,
        [T_E5M2X2] = 2, [T_U16X2] = 4, [T_S16X2] = 4, [T_U4] = 1,    [T_S4] = 1};
    return bytes[type];
}

unsigned ptx_element_bits(enum type type)
{
    return type == T_U4 || type == T_S4 ? 4 : 8 * ptx_type_bytes(type);
}

bool ptx_type_is_signed(enum type type)
{
    return type >= T_S8 && type <= T_S64;
}

void *ptx_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    const size_t wanted = *room != 0 ? 2 * *room : 16;
    void *grown = realloc(array, wanted * size);
    if (grown != NULL) {
        memset((char *)grown + *room * size, 0, (wanted - *room) * size);
        *room = wanted;
    }
    return grown;
}

void ptx_module_free(struct ptx_module *module)
{
    if (module == NULL)
        return;
    for (size_t i = 0; i < module->function_count; i++) {
        free(module->functions[i]->name);
        free(module->functions[i]->refusal);
        free(module->functions[i]->parameters);
        free(module->functions[i]->results);
        free(module->functions[i]);
    }
    for (size_t i = 0; i < module->variable_count; i++) {
        free(module->variables[i]->name);
        free(module->variables[i]->value);
        free(module->variables[i]->relocations);
        free(module->variables[i]);
    }
    for (size_t i = 0; i < module->call_count; i++) {
        free(module->calls[i].arguments);
        free(module->calls[i].results);
    }
    for (size_t i = 0; i < module->table_count; i++)
        free(module->tables[i].targets);
    free(module->code);
    free(module->constants);
    free(module->functions);
    free(module->variables);
    free(module->fixups);
    free(module->calls);
    free(module->tables);
    free(module->matrices);
    while (module->placements != NULL) {
        struct placement *next = module->placements->next;
        free(module->placements);
        module->placements = next;
    }
    free(module->accesses);
    free(module->text);
    free(module);
}

static void set_constant(struct ptx_module *module, uint32_t constant, uint64_t value)
{
    for (int lane = 0; lane < LANES; lane++)
        module->constants[constant * LANES + (size_t)lane] = value;
}

int ptx_module_place(struct ptx_module *module,
                     void *(*allocate)(size_t bytes, size_t alignment, void *context), void *context)
{
    for (size_t i = 0; i < module->variable_count; i++) {
        struct ptx_variable *variable = module->variables[i];
        if (variable->space != SPACE_GLOBAL && variable->space != SPACE_CONST)
            continue;
        void *memory = allocate(variable->bytes != 0 ? variable->bytes : 1, variable->alignment, context);
        if (memory == NULL)
            return -1;
        memset(memory, 0, variable->bytes);
        if (variable->value != NULL)
            memcpy(memory, variable->value, variable->bytes);
        variable->address = (uint64_t)(uintptr_t)memory;
    }
    for (size_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = module->variables[i];
        for (uint32_t j = 0; j < variable->relocation_count; j++) {
            const struct relocation *relocation = &variable->relocations[j];
            const uint64_t value =
                module->variables[relocation->variable]->address + (uint64_t)relocation->addend;
            memcpy((char *)(uintptr_t)variable->address + relocation->at, &value, relocation->bytes);
        }
    }
    for (size_t i = 0; i < module->fixup_count; i++) {
        const struct fixup *fixup = &module->fixups[i];
        set_constant(module, fixup->constant,
                     module->variables[fixup->variable]->address + (uint64_t)fixup->addend);
    }
    return 0;
}

static bool is_kernel(const struct ptx_kernel *function)
{
    return function->entry && function->defined; /* a declaration cannot be launched */
}

size_t ptx_module_kernel_count(const struct ptx_module *module)
{
    size_t count = 0;
    for (size_t i = 0; i < module->function_count; i++)
        count += is_kernel(module->functions[i]);
    return count;
}

const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module, size_t index)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (is_kernel(module->functions[i]) && index-- == 0)
            return module->functions[i];
    return NULL;
}

const struct ptx_kernel *ptx_module_find_kernel(const struct ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (is_kernel(module->functions[i]) && strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    return NULL;
}

const char *ptx_kernel_refusal(const struct ptx_kernel *kernel)
{
    return kernel->refusal;
}

const char *ptx_kernel_name(const struct ptx_kernel *kernel)
{
    return kernel->name;
}

size_t ptx_kernel_parameter_count(const struct ptx_kernel *kernel)
{
    return kernel->parameter_count;
}

void ptx_kernel_parameter(const struct ptx_kernel *kernel, size_t index, size_t *offset, size_t *bytes)
{
    *offset = kernel->parameters[index].offset;
    *bytes = kernel->parameters[index].bytes;
}

size_t ptx_kernel_parameter_bytes(const struct ptx_kernel *kernel)
{
    return kernel->parameter_bytes;
}

uint32_t ptx_kernel_lines(const struct ptx_kernel *kernel)
{
    const struct ptx_module *module = kernel->module;
    uint32_t lines = 0;
    for (size_t i = 0; i < module->code_count; i++)
        if (module->code[i].line >= lines)
            lines = module->code[i].line + 1;
    return lines;
}

void ptx_kernel_line(const struct ptx_kernel *kernel, uint32_t line, char *text, size_t room)
{
    const struct ptx_module *module = kernel->module;
    const char *at = module->text, *end = at + module->text_bytes;
    while (line > 1 && at != NULL && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        line--;
    }
    if (at == NULL || line == 0)
        at = end;
    const char *stop = at == end ? at : memchr(at, '\n', (size_t)(end - at));
    stop = stop == NULL ? end : stop;
    while (at < stop && (unsigned char)*at <= ' ')
        at++;
    while (at < stop && (unsigned char)stop[-1] <= ' ')
        stop--;
    snprintf(text, room, "%.*s", (int)(stop - at < INT_MAX ? stop - at : INT_MAX), at);
}

void ptx_kernel_attributes(const struct ptx_kernel *kernel, struct ptx_kernel_attributes *attributes)
{
    const struct ptx_module *module = kernel->module;
    uint64_t constant_bytes = 0;
    for (size_t i = 0; i < module->variable_count; i++)
        constant_bytes += module->variables[i]->space == SPACE_CONST ? module->variables[i]->bytes : 0;
    *attributes =
        (struct ptx_kernel_attributes){.registers = kernel->registers < 255 ? kernel->registers : 255,
                                       .shared_bytes = module->common_shared_bytes + kernel->shared_bytes,
                                       .local_bytes = kernel->local_bytes,
                                       .constant_bytes = (uint32_t)constant_bytes,
                                       .max_threads = kernel->max_threads != 0 ? kernel->max_threads : 1024,
                                       .uses_cluster = module->uses_cluster,
                                       .ptx_version = module->version,
                                       .target = module->target};
    memcpy(attributes->required, kernel->required_threads, sizeof attributes->required);
    memcpy(attributes->cluster, kernel->required_cluster, sizeof attributes->cluster);
}

/* Lists globals only: a .shared variable has an address per block. */
static bool is_addressable(const struct ptx_variable *variable)
{
    return variable->space == SPACE_GLOBAL || variable->space == SPACE_CONST;
}

size_t ptx_module_global_count(const struct ptx_module *module)
{
    size_t count = 0;
    for (size_t i = 0; i < module->variable_count; i++)
        count += is_addressable(module->variables[i]);
    return count;
}

const struct ptx_variable *ptx_module_global(const struct ptx_module *module, size_t index)
{
    for (size_t i = 0; i < module->variable_count; i++)
        if (is_addressable(module->variables[i]) && index-- == 0)
            return module->variables[i];
    return NULL;
}

const struct ptx_variable *ptx_module_find_global(const struct ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->variable_count; i++)
        if (is_addressable(module->variables[i]) && strcmp(module->variables[i]->name, name) == 0)
            return module->variables[i];
    return NULL;
}

const char *ptx_variable_name(const struct ptx_variable *variable)
{
    return variable->name;
}

uint64_t ptx_variable_address(const struct ptx_variable *variable)
{
    return variable->address;
}

size_t ptx_variable_bytes(const struct ptx_variable *variable)
{
    return variable->bytes;
}

bool ptx_variable_is_managed(const struct ptx_variable *variable)
{
    return variable->managed;
}
