#include "driver/copy/copy.h"

#include "driver/context/context.h"
#include "driver/memory/array.h"
#include "driver/memory/memory.h"
#include "driver/stream/stream.h"

#define PITCH_MAX 0x7fffffffu /* CU_DEVICE_ATTRIBUTE_MAX_PITCH */

/* Determine the memory type of an address. Page-locked host memory counts as device memory, because it needs
 * no staging. A device address with type HOST is still a device address, as with unified addressing. */
static CUmemorytype settle(uint64_t address, CUmemorytype type)
{
    struct sim_range range;
    if (type == CU_MEMORYTYPE_ARRAY || type == CU_MEMORYTYPE_DEVICE)
        return type;
    if (!sim_range_find(address, &range))
        return CU_MEMORYTYPE_HOST;
    const bool page_locked = range.kind == SIM_MEMORY_HOST || range.kind == SIM_MEMORY_REGISTERED;
    return type == CU_MEMORYTYPE_HOST && page_locked ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

struct side {
    uint64_t address;
    CUmemorytype type;
    size_t pitch, slice;
    bool (*may)(uint64_t address, size_t bytes);
};

/* Bytes from the first byte to the end of the last row. False: overflow. */
static bool span(const struct sim_copy *copy, const struct side *side, size_t *bytes)
{
    size_t slices;
    size_t rows;
    return !__builtin_mul_overflow(copy->depth - 1, side->slice, &slices) &&
           !__builtin_mul_overflow(copy->height - 1, side->pitch, &rows) &&
           !__builtin_add_overflow(slices, rows, bytes) &&
           !__builtin_add_overflow(*bytes, copy->width, bytes) && side->address + *bytes >= side->address;
}

static bool side_is_valid(const struct sim_copy *copy, const struct side *side)
{
    size_t bytes;
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0 || side->type == CU_MEMORYTYPE_ARRAY)
        return true;
    if ((copy->height > 1 && side->pitch < copy->width) || !span(copy, side, &bytes))
        return false;
    if (side->type == CU_MEMORYTYPE_HOST)
        return side->address != 0;
    if (side->may(side->address, bytes))
        return true;
    /* Rows with gaps may lie in several allocations, so each row is checked. Refuse more rows than memory
     * can hold first. */
    if (side->pitch == 0 || copy->depth > SIZE_MAX / copy->height)
        return false;
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            if (!side->may(side->address + z * side->slice + y * side->pitch, copy->width))
                return false;
    return true;
}

static bool readable(uint64_t address, size_t bytes)
{
    return sim_range_readable(address, bytes) || sim_range_addressable(address, bytes);
}

static CUresult check(struct sim_copy *copy)
{
    copy->destination_type = settle(copy->destination, copy->destination_type);
    copy->source_type = settle(copy->source, copy->source_type);
    const struct side destination = {copy->destination, copy->destination_type, copy->destination_pitch,
                                     copy->destination_slice, sim_range_addressable};
    const struct side source = {copy->source, copy->source_type, copy->source_pitch, copy->source_slice,
                                readable};
    return side_is_valid(copy, &destination) && side_is_valid(copy, &source) ? CUDA_SUCCESS
                                                                             : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_copy_linear(uint64_t destination, CUmemorytype destination_type, uint64_t source,
                         CUmemorytype source_type, size_t bytes, struct sim_copy *copy)
{
    *copy = (struct sim_copy){.destination = destination,
                              .source = source,
                              .width = bytes,
                              .height = 1,
                              .depth = 1,
                              .destination_type = destination_type,
                              .source_type = source_type};
    return check(copy);
}

/* One side of CUDA_MEMCPY3D. */
struct place {
    size_t x, y, z, lod;
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    const void *reserved;
    size_t pitch, height;
};

/* Resolve where a side begins and its strides. `array` gets a reference, or NULL. */
static CUresult resolve(const CUDA_MEMCPY3D *p, const struct place *place, struct side *side,
                        struct sim_array **array)
{
    size_t offset;
    *array = NULL;
    if (place->lod != 0 || place->reserved != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (place->type == CU_MEMORYTYPE_ARRAY) {
        struct sim_array *found = sim_object_find(place->array, SIM_ARRAY);
        if (found == NULL || !sim_array_locate(found, place->x, place->y, place->z, p->WidthInBytes,
                                               p->Height, p->Depth, &side->address))
            return CUDA_ERROR_INVALID_VALUE;
        side->pitch = found->row_bytes;
        side->slice = found->row_bytes * found->rows;
        *array = sim_object_retain(found);
        return CUDA_SUCCESS;
    }
    if (place->type != CU_MEMORYTYPE_HOST && place->type != CU_MEMORYTYPE_DEVICE &&
        place->type != CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    /* "If specified, srcPitch must be greater than or equal to WidthInBytes + srcXInBytes" (cuda.h) */
    if (place->pitch > PITCH_MAX ||
        (place->pitch != 0 && (place->x > place->pitch || p->WidthInBytes > place->pitch - place->x)))
        return CUDA_ERROR_INVALID_VALUE;
    if (place->height != 0 && (place->y > place->height || p->Height > place->height - place->y))
        return CUDA_ERROR_INVALID_VALUE;
    side->pitch = place->pitch != 0 ? place->pitch : p->WidthInBytes;
    size_t down;
    if (__builtin_mul_overflow(side->pitch, place->height != 0 ? place->height : p->Height, &side->slice) ||
        __builtin_mul_overflow(place->z, side->slice, &offset) ||
        __builtin_mul_overflow(place->y, side->pitch, &down) ||
        __builtin_add_overflow(offset, down, &offset) || __builtin_add_overflow(offset, place->x, &offset))
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t base =
        place->type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)place->host : place->device;
    if (place->type == CU_MEMORYTYPE_HOST && base == 0 && p->WidthInBytes * p->Height * p->Depth != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return __builtin_add_overflow(base, offset, &side->address) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult sim_copy_3d(const CUDA_MEMCPY3D *p, struct sim_copy *copy)
{
    struct side from = {0};
    struct side to = {0};
    struct sim_array *source = NULL;
    struct sim_array *destination = NULL;
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct place source_place = {p->srcXInBytes,   p->srcY,     p->srcZ,      p->srcLOD,
                                       p->srcMemoryType, p->srcHost,  p->srcDevice, p->srcArray,
                                       p->reserved0,     p->srcPitch, p->srcHeight};
    const struct place destination_place = {p->dstXInBytes,   p->dstY,     p->dstZ,      p->dstLOD,
                                            p->dstMemoryType, p->dstHost,  p->dstDevice, p->dstArray,
                                            p->reserved1,     p->dstPitch, p->dstHeight};
    CUresult result = resolve(p, &source_place, &from, &source);
    if (result == CUDA_SUCCESS)
        result = resolve(p, &destination_place, &to, &destination);
    if (result == CUDA_SUCCESS && source != NULL && destination != NULL &&
        source->element_bytes != destination->element_bytes)
        result = CUDA_ERROR_INVALID_VALUE;
    *copy = (struct sim_copy){.destination = to.address,
                              .source = from.address,
                              .destination_pitch = to.pitch,
                              .destination_slice = to.slice,
                              .source_pitch = from.pitch,
                              .source_slice = from.slice,
                              .width = p->WidthInBytes,
                              .height = p->Height,
                              .depth = p->Depth,
                              .destination_type = p->dstMemoryType,
                              .source_type = p->srcMemoryType,
                              .destination_array = destination,
                              .source_array = source};
    if (result == CUDA_SUCCESS)
        result = check(copy);
    if (result != CUDA_SUCCESS)
        sim_copy_clear(copy);
    return result;
}

static void describe_array(const struct sim_array *array, uint64_t address, size_t *x, size_t *y, size_t *z)
{
    const uint64_t offset = address - array->storage;
    const size_t slice = array->row_bytes * array->rows;
    *z = offset / slice;
    *y = offset % slice / array->row_bytes;
    *x = offset % slice % array->row_bytes;
}

void sim_copy_describe(const struct sim_copy *copy, CUDA_MEMCPY3D *p)
{
    *p = (CUDA_MEMCPY3D){.srcMemoryType = copy->source_type,
                         .dstMemoryType = copy->destination_type,
                         .WidthInBytes = copy->width,
                         .Height = copy->height,
                         .Depth = copy->depth};
    if (copy->source_array != NULL) {
        p->srcArray = (CUarray)copy->source_array;
        describe_array(copy->source_array, copy->source, &p->srcXInBytes, &p->srcY, &p->srcZ);
    } else {
        p->srcHost = copy->source_type == CU_MEMORYTYPE_HOST ? (const void *)(uintptr_t)copy->source : NULL;
        p->srcDevice = copy->source_type == CU_MEMORYTYPE_HOST ? 0 : copy->source;
        p->srcPitch = copy->source_pitch;
        p->srcHeight = copy->source_pitch == 0 ? 0 : copy->source_slice / copy->source_pitch;
    }
    if (copy->destination_array != NULL) {
        p->dstArray = (CUarray)copy->destination_array;
        describe_array(copy->destination_array, copy->destination, &p->dstXInBytes, &p->dstY, &p->dstZ);
    } else {
        p->dstHost =
            copy->destination_type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)copy->destination : NULL;
        p->dstDevice = copy->destination_type == CU_MEMORYTYPE_HOST ? 0 : copy->destination;
        p->dstPitch = copy->destination_pitch;
        p->dstHeight = copy->destination_pitch == 0 ? 0 : copy->destination_slice / copy->destination_pitch;
    }
}
