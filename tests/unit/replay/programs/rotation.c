/* The engine's rules of rotation, for ctypes. */
#include "replay/sample/rotation.c"

#define EXPORT __attribute__((visibility("default")))

EXPORT uint32_t by_cache(uint64_t footprint, uint64_t l2_bytes, uint64_t free_bytes)
{
    return nb_rotation_by_cache(footprint, l2_bytes, free_bytes);
}

EXPORT uint32_t as_asked(uint32_t asked, uint64_t footprint)
{
    return nb_rotation_as_asked(asked, footprint);
}

EXPORT uint32_t turn(uint64_t iteration, uint32_t count)
{
    return nb_rotation_index(iteration, count);
}
