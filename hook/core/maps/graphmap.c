#include "core/maps/graphmap.h"

#include "core/base/handle_map.h"

static struct nb_handle_map graphs = NB_HANDLE_MAP_INITIALIZER;
static _Atomic uint64_t last_number;

uint64_t nb_graphmap_next_number(void)
{
    return atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
}

void nb_graphmap_set(uint64_t handle, struct nb_graph_entry *entry)
{
    nb_handle_map_set(&graphs, handle, entry);
}

struct nb_graph_entry *nb_graphmap_get(uint64_t handle)
{
    return nb_handle_map_get(&graphs, handle);
}

static void forget(void)
{
    nb_handle_map_forget(&graphs);
}

const struct nb_component nb_graphmap_component = {.locks = {&graphs.lock}, .forget = forget};
