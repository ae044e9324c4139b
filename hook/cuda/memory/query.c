#include "cuda/memory/query.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/arena/arena.h"
#include "cuda/memory/arena.h"
#include "cuda/memory/virtual.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* The program's allocation or reservation at an address of the arena. */
struct memory {
    bool is_memory, is_reserved;
    struct nb_arena_block block;
    uint64_t begin, bytes; /* as the program requested them */
};

static struct memory find_memory(CUdeviceptr address)
{
    struct memory memory = {0};
    memory.is_reserved = nb_memory_find_reservation(address, 1, &memory.begin, &memory.bytes);
    memory.is_memory = !memory.is_reserved && nb_arena_find(address, &memory.block);
    if (memory.is_memory) {
        memory.begin = memory.block.address;
        memory.bytes = memory.block.bytes;
    }
    return memory;
}

/* Return the address to ask the driver about: invalid for arena memory that the program does not own. */
static CUdeviceptr choose_address(const struct memory *memory, CUdeviceptr address)
{
    return memory->is_memory || memory->is_reserved ? address : NB_MEMORY_INVALID_POINTER;
}

CUresult nb_wrap_when_recording_address_range(const struct nb_call *call, nb_cuMemGetAddressRange_v2_t real,
                                              CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    (void)call;
    if (!nb_arena_contains(dptr))
        return real(pbase, psize, dptr);
    const struct memory memory = find_memory(dptr);
    const CUresult result = real(pbase, psize, choose_address(&memory, dptr));
    if (result == CUDA_SUCCESS && memory.is_memory) {
        if (pbase != NULL)
            *pbase = memory.begin;
        if (psize != NULL)
            *psize = memory.bytes;
    }
    return result;
}

static void correct_attribute(const struct memory *memory, CUpointer_attribute attribute, void *data)
{
    uint64_t value;
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        value = memory->begin;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        value = memory->bytes;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        if (!memory->is_memory)
            return;
        value = memory->begin;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        if (!memory->is_memory)
            return;
        value = memory->bytes;
        break;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        if (!memory->is_memory || memory->block.pooled)
            return;
        value = memory->block.owner;
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        if (!memory->is_memory || !memory->block.pooled)
            return;
        value = memory->block.owner;
        break;
    default:
        return;
    }
    memcpy(data, &value, sizeof value);
}

CUdeviceptr nb_memory_address_to_ask(CUdeviceptr address)
{
    if (!nb_arena_contains(address))
        return address;
    const struct memory memory = find_memory(address);
    return choose_address(&memory, address);
}

void nb_memory_correct(CUdeviceptr address, CUpointer_attribute attribute, void *data)
{
    if (!nb_arena_contains(address))
        return;
    const struct memory memory = find_memory(address);
    if (memory.is_memory || memory.is_reserved)
        correct_attribute(&memory, attribute, data);
}

CUresult nb_wrap_when_recording_pointer_attribute(const struct nb_call *call, nb_cuPointerGetAttribute_t real,
                                                  void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    (void)call;
    if (!nb_arena_contains(ptr))
        return real(data, attribute, ptr);
    const struct memory memory = find_memory(ptr);
    const CUresult result = real(data, attribute, choose_address(&memory, ptr));
    if (result == CUDA_SUCCESS && data != NULL)
        correct_attribute(&memory, attribute, data);
    return result;
}

CUresult nb_wrap_when_recording_pointer_attributes(const struct nb_call *call,
                                                   nb_cuPointerGetAttributes_t real,
                                                   unsigned int numAttributes,
                                                   CUpointer_attribute *attributes, void **data,
                                                   CUdeviceptr ptr)
{
    (void)call;
    if (!nb_arena_contains(ptr))
        return real(numAttributes, attributes, data, ptr);
    const struct memory memory = find_memory(ptr);
    const CUresult result = real(numAttributes, attributes, data, choose_address(&memory, ptr));
    if (result == CUDA_SUCCESS && (memory.is_memory || memory.is_reserved))
        for (unsigned int i = 0; i < numAttributes; i++)
            correct_attribute(&memory, attributes[i], data[i]);
    return result;
}
