/* The composition root: which parts make the shim, and what each is told of the others.
 *
 * A constructor, so that it runs before any function of the driver can be called through the shim. */
#include "arena.h"
#include "binmap.h"
#include "capture_allocation.h"
#include "capture_event.h"
#include "capture_format.h"
#include "capture_global.h"
#include "capture_graph.h"
#include "capture_kernel.h"
#include "capture_launch.h"
#include "capture_module.h"
#include "capture_operation.h"
#include "capture_state.h"
#include "capture_stream.h"
#include "capture_symbol.h"
#include "component.h"
#include "driver.h"
#include "foreign.h"
#include "funcmap.h"
#include "graphmap.h"
#include "memory_arena.h"
#include "memory_async.h"
#include "memory_events.h"
#include "memory_pending.h"
#include "memory_virtual.h"
#include "recording.h"
#include "refuse.h"
#include "region.h"
#include "vendor.h"

/* In the order in which their locks nest: a region begins and ends with the help of all the others, a graph
 * is written with the help of modules, and every one of them appends to the recording. */
static const struct nb_component *const components[] = {
    &nb_region_component,
    &nb_capture_graph_component,
    &nb_capture_module_component,
    &nb_capture_allocation_component,
    &nb_capture_global_component,
    &nb_capture_symbol_component,
    &nb_capture_kernel_component,
    &nb_capture_launch_component,
    &nb_capture_stream_component,
    &nb_capture_event_component,
    &nb_capture_operation_component,
    &nb_capture_refuse_component,
    &nb_memory_arena_component,
    &nb_memory_async_component,
    &nb_memory_pending_component,
    &nb_memory_virtual_component,
    &nb_foreign_component,
    &nb_arena_component,
    &nb_binmap_component,
    &nb_funcmap_component,
    &nb_graphmap_component,
    &nb_recording_component,
    &nb_driver_component,
    NULL,
};

static void host_waited(void)
{
    nb_capture_join(NB_NOTHING);
}

static const struct nb_memory_events memory_events = {
    .block_ended = nb_capture_block_ended, .waited = host_waited, .lost = nb_capture_lost_for_good};

__attribute__((constructor)) static void compose(void)
{
    nb_components_add(components);
    nb_components_add(nb_vendor_components);
    nb_region_install(&nb_capture_region_operations);
    nb_memory_install_events(&memory_events);
}
