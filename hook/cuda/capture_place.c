#include "capture_place.h"

#include "arena.h"
#include "capture.h"
#include "foreign.h"
#include "real.h"
#include "surface.h"

bool nb_capture_is_managed(uint64_t address)
{
    unsigned int managed = 0;
    return NB_REAL(cuPointerGetAttribute)(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) ==
               CUDA_SUCCESS &&
           managed != 0;
}

/* What the driver has not registered is memory of the process. */
static bool is_host(uint64_t address)
{
    unsigned int type = CU_MEMORYTYPE_HOST;
    return NB_REAL(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS ||
           type == CU_MEMORYTYPE_HOST;
}

enum nb_place nb_capture_place(uint64_t address, const char **what)
{
    uint32_t global;
    uint64_t delta;
    if (nb_arena_holds(address) || nb_capture_global_find(address, &global, &delta))
        return NB_PLACE_CAPTURED;
    if (nb_capture_is_managed(address)) {
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
