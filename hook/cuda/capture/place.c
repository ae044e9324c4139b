#include "cuda/capture/place.h"

#include <cuda.h>

#include "core/arena/arena.h"
#include "core/driver/slots.h"
#include "cuda/capture/symbol.h"
#include "cuda/memory/foreign.h"
#include "real.h"
#include "surface.h"

/* Addresses that the driver does not know are the process's own memory. */
static bool is_host(uint64_t address)
{
    unsigned int type = CU_MEMORYTYPE_HOST;
    return NB_REAL(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS ||
           type == CU_MEMORYTYPE_HOST;
}

/* Compute the bytes from the first to the last. False if rows or slices overlap, or the size overflows. */
static bool measure(const struct nb_extent *extent, uint64_t *bytes)
{
    uint64_t plane, slices;
    return (extent->height == 1 || extent->pitch >= extent->width) &&
           !__builtin_mul_overflow(extent->height - 1, extent->pitch, &plane) &&
           !__builtin_add_overflow(plane, extent->width, &plane) &&
           (extent->depth == 1 || extent->slice >= plane) &&
           !__builtin_mul_overflow(extent->depth - 1, extent->slice, &slices) &&
           !__builtin_add_overflow(slices, plane, bytes);
}

/* Readers accept bytes in adjacent allocations together, or in one global. */
static bool is_contained(uint64_t address, uint64_t bytes)
{
    return nb_arena_covers(address, bytes) || nb_capture_is_in_global(address, bytes);
}

bool nb_capture_contains(uint64_t address, uint64_t bytes)
{
    return bytes == 0 || is_contained(address, bytes);
}

/* The capture has an allocation or a global at the first byte. */
static enum nb_place place_of_device(const struct nb_extent *extent, const char **what)
{
    uint64_t bytes;
    if (!measure(extent, &bytes)) {
        *what = "overlapping rows or slices";
        return NB_PLACE_FOREIGN;
    }
    *what = "memory outside every allocation";
    return is_contained(extent->address, bytes) ? NB_PLACE_CAPTURED : NB_PLACE_FOREIGN;
}

enum nb_place nb_capture_find_place(const struct nb_extent *extent, const char **what)
{
    const uint64_t address = extent->address;
    uint32_t global;
    uint64_t delta;
    if (nb_arena_contains(address) || nb_capture_find_global(address, &global, &delta))
        return place_of_device(extent, what);
    if (nb_foreign_is_managed(address)) {
        *what = "managed memory";
        return NB_PLACE_FOREIGN;
    }
    if (is_host(address))
        return NB_PLACE_HOST;
    *what = nb_foreign_find(address);
    if (*what == NULL)
        *what = "device memory that the program did not allocate";
    return NB_PLACE_FOREIGN;
}
