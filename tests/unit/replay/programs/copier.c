/* The engine's copies by several threads, for ctypes. */
#include "replay/state/copier.c"

#define EXPORT __attribute__((visibility("default")))

static struct nb_copier copier;

EXPORT uint32_t open_with(uint32_t helpers)
{
    copier = (struct nb_copier){0};
    nb_copier_open(&copier, helpers);
    return copier.count;
}

EXPORT void copy(void *to, const void *from, size_t bytes)
{
    nb_copier_copy(&copier, to, from, bytes);
}

EXPORT uint32_t sleeping(void)
{
    return atomic_load(&copier.sleeping);
}

EXPORT void end(void)
{
    nb_copier_close(&copier);
}
