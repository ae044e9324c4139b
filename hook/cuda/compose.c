/* The composition root: connects the shim's parts.
 *
 * A constructor does it, so that it runs before any function of the driver can be called through the shim. */
#include "core/arena/arena.h"
#include "core/driver/driver.h"
#include "core/maps/binmap.h"
#include "core/maps/funcmap.h"
#include "core/maps/graphmap.h"
#include "core/maps/links.h"
#include "core/policy/events.h"
#include "core/policy/policy.h"
#include "core/probe/mailbox.h"
#include "core/process/attach.h"
#include "core/process/component.h"
#include "core/region/raw_capture.h"
#include "core/region/region.h"
#include "core/ring/omitted.h"
#include "core/wire/capture_format.h"
#include "cuda/capture/allocation.h"
#include "cuda/capture/event.h"
#include "cuda/capture/global.h"
#include "cuda/capture/host_read.h"
#include "cuda/capture/kernel.h"
#include "cuda/capture/launch.h"
#include "cuda/capture/module.h"
#include "cuda/capture/operation.h"
#include "cuda/capture/refuse.h"
#include "cuda/capture/state.h"
#include "cuda/capture/stream.h"
#include "cuda/capture/symbol.h"
#include "cuda/graph/capture.h"
#include "cuda/memory/arena.h"
#include "cuda/memory/async.h"
#include "cuda/memory/events.h"
#include "cuda/memory/foreign.h"
#include "cuda/memory/pending.h"
#include "cuda/memory/virtual.h"
#include "cuda/policy/facts.h"
#include "cuda/probe/buffers.h"
#include "cuda/probe/graph.h"
#include "cuda/probe/kernel.h"
#include "cuda/probe/launch.h"
#include "cuda/time/launch_time.h"
#include "cuda/vendor.h"

/* In the order in which their locks nest. A region begins and ends with the help of all others; graphs
 * need modules; and all of them append to the raw capture. */
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
    &nb_host_read_component,
    &nb_memory_arena_component,
    &nb_memory_async_component,
    &nb_memory_pending_component,
    &nb_memory_virtual_component,
    &nb_foreign_component,
    &nb_arena_component,
    &nb_launch_time_component,
    &nb_probe_launch_component,
    &nb_probe_buffers_component,
    &nb_probe_graph_component,
    &nb_probe_kernel_component,
    &nb_probe_mailbox_component,
    &nb_binmap_component,
    &nb_links_component,
    &nb_funcmap_component,
    &nb_graphmap_component,
    &nb_raw_capture_component,
    &nb_omitted_component,
    &nb_policy_component,
    &nb_policy_events_component,
    &nb_driver_component,
    NULL,
};

static void host_waited(void)
{
    nb_capture_synchronize(NB_NOTHING);
}

static const struct nb_memory_events memory_events = {
    .block_ended = nb_capture_end_block, .waited = host_waited, .lost = nb_capture_refuse_later};

__attribute__((constructor)) static void compose(void)
{
    nb_components_add(components);
    nb_components_add(nb_vendor_components);
    nb_driver_install(nb_process_attach);
    nb_region_install(&nb_capture_region_operations);
    nb_memory_install_events(&memory_events);
    nb_policy_install(&nb_cuda_policy_facts);
}
