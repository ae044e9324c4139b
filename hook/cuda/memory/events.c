#include "cuda/memory/events.h"

static const struct nb_memory_events *installed;

void nb_memory_install_events(const struct nb_memory_events *events)
{
    installed = events;
}

const struct nb_memory_events *nb_memory_events(void)
{
    return installed;
}
