#include "driver/graph/handle.h"

#include "driver/memory/memory.h"

#include <stdlib.h>

static void dispose(struct sim_object *object)
{
    struct sim_condition_value *value = (struct sim_condition_value *)object;
    (void)sim_memory_free(value->address, 1u << SIM_MEMORY_DEVICE);
    free(value);
}

_Atomic uint32_t *sim_condition_word(const struct sim_condition_value *value)
{
    return (_Atomic uint32_t *)(uintptr_t)value->address;
}

struct sim_condition_value *sim_condition_value_make(void)
{
    struct sim_condition_value *value = calloc(1, sizeof(*value));
    const uint64_t address =
        value == NULL ? 0 : sim_memory_allocate(SIM_MEMORY_DEVICE, sizeof(uint32_t), 0, NULL);
    if (address == 0) {
        free(value);
        return NULL;
    }
    sim_object_init(&value->object, SIM_GRAPH, NULL, dispose);
    value->address = address;
    atomic_store(sim_condition_word(value), 0);
    return value;
}

CUresult sim_graph_handles_add(struct sim_graph_handle **handles, struct sim_condition_value *value)
{
    struct sim_graph_handle *handle = malloc(sizeof(*handle));
    if (handle == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = (struct sim_graph_handle){.next = *handles, .value = sim_object_retain(value)};
    *handles = handle;
    return CUDA_SUCCESS;
}

CUresult sim_graph_handles_copy(struct sim_graph_handle **to, const struct sim_graph_handle *from)
{
    CUresult result = CUDA_SUCCESS;
    for (; from != NULL && result == CUDA_SUCCESS; from = from->next)
        result = sim_graph_handles_add(to, from->value);
    return result;
}

void sim_graph_handles_clear(struct sim_graph_handle **handles)
{
    while (*handles != NULL) {
        struct sim_graph_handle *first = *handles;
        *handles = first->next;
        sim_object_release(first->value);
        free(first);
    }
}

bool sim_graph_handles_are_used(const struct sim_graph_handle *handles)
{
    while (handles != NULL && handles->value->used)
        handles = handles->next;
    return handles == NULL;
}

struct sim_condition_value *sim_graph_handles_find(const struct sim_graph_handle *handles, CUdeviceptr handle)
{
    while (handles != NULL && handles->value->address != handle)
        handles = handles->next;
    return handles == NULL ? NULL : handles->value;
}
