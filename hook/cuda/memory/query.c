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
struct found {
    bool is_memory, is_reserved;
    struct nb_arena_block block;
    uint64_t begin, bytes; /* as the program requested them */
};

static struct found find_memory(CUdeviceptr address)
{
    struct found found = {0};
    found.is_reserved = nb_memory_find_reservation(address, 1, &found.begin, &found.bytes);
    found.is_memory = !found.is_reserved && nb_arena_find(address, &found.block);
    if (found.is_memory) {
        found.begin = found.block.address;
        found.bytes = found.block.bytes;
    }
    return found;
}

/* Return the address to ask the driver about: invalid for arena memory that the program does not own. */
static CUdeviceptr choose_address(const struct found *found, CUdeviceptr address)
{
    return found->is_memory || found->is_reserved ? address : NB_MEMORY_INVALID_POINTER;
}

CUresult nb_wrap_when_recording_address_range(const struct nb_call *call, nb_cuMemGetAddressRange_v2_t real,
                                              CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    (void)call;
    if (!nb_arena_contains(dptr))
        return real(pbase, psize, dptr);
    const struct found found = find_memory(dptr);
    const CUresult result = real(pbase, psize, choose_address(&found, dptr));
    if (result == CUDA_SUCCESS && found.is_memory) {
        if (pbase != NULL)
            *pbase = found.begin;
        if (psize != NULL)
            *psize = found.bytes;
    }
    return result;
}

static void correct_attribute(const struct found *found, CUpointer_attribute attribute, void *data)
{
    uint64_t value;
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        value = found->begin;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        value = found->bytes;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        if (!found->is_memory)
            return;
        value = found->begin;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        if (!found->is_memory)
            return;
        value = found->bytes;
        break;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        if (!found->is_memory || found->block.pooled)
            return;
        value = found->block.owner;
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        if (!found->is_memory || !found->block.pooled)
            return;
        value = found->block.owner;
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
    const struct found found = find_memory(address);
    return choose_address(&found, address);
}

void nb_memory_correct(CUdeviceptr address, CUpointer_attribute attribute, void *data)
{
    if (!nb_arena_contains(address))
        return;
    const struct found found = find_memory(address);
    if (found.is_memory || found.is_reserved)
        correct_attribute(&found, attribute, data);
}

CUresult nb_wrap_when_recording_pointer_attribute(const struct nb_call *call, nb_cuPointerGetAttribute_t real,
                                                  void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    (void)call;
    if (!nb_arena_contains(ptr))
        return real(data, attribute, ptr);
    const struct found found = find_memory(ptr);
    const CUresult result = real(data, attribute, choose_address(&found, ptr));
    if (result == CUDA_SUCCESS && data != NULL)
        correct_attribute(&found, attribute, data);
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
    const struct found found = find_memory(ptr);
    const CUresult result = real(numAttributes, attributes, data, choose_address(&found, ptr));
    if (result == CUDA_SUCCESS && (found.is_memory || found.is_reserved))
        for (unsigned int i = 0; i < numAttributes; i++)
            correct_attribute(&found, attributes[i], data[i]);
    return result;
}
