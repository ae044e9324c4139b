#include "cuda/policy/facts.h"

#include <cuda.h>

#include "core/maps/graphmap.h"
#include "cuda/kernel/function.h"
#include "cuda/kernel/handle.h"
#include "real.h"
#include "surface.h"

static const void *pointer(uint64_t word)
{
    return (const void *)(uintptr_t)word;
}

static uint64_t query_context(void)
{
    CUcontext context = NULL;
    return NB_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS ? nb_handle(context) : 0;
}

/* A thread without a ring cannot describe a kernel: it knows the names of kernels that were looked up. */
static const char *find_kernel(struct nb_thread *thread, uint64_t function)
{
    if (thread->ring != NULL && nb_funcmap_get(function) == NULL)
        nb_describe(thread, (CUfunction)pointer(function));
    const struct nb_function *known = nb_funcmap_get(function);
    return known != NULL ? known->name : "";
}

/* Both versions of the parameters begin with the function; the newer one may have a kernel in its place. */
static uint64_t find_node_kernel(uint64_t parameters)
{
    const CUDA_KERNEL_NODE_PARAMS *node = pointer(parameters);
    return nb_handle(node->func);
}

static uint64_t find_config_stream(uint64_t config)
{
    return nb_handle(((const CUlaunchConfig *)pointer(config))->hStream);
}

static bool find_config_attribute(uint64_t config, uint32_t index, uint32_t *id)
{
    const CUlaunchConfig *launch = pointer(config);
    if (launch->attrs == NULL || index >= launch->numAttrs)
        return false;
    *id = (uint32_t)launch->attrs[index].id;
    return true;
}

/* A graph with nodes that could not be listed has one kernel more, which is unknown. */
static const char *find_graph_kernel(struct nb_thread *thread, uint64_t executable, uint32_t index)
{
    const struct nb_graph_entry *entry = nb_graphmap_get(executable);
    const uint32_t known = entry != NULL ? entry->kernel_count : 0;
    const bool has_unknown = entry == NULL || __atomic_load_n(&entry->opaque, __ATOMIC_RELAXED) > 0;
    if (index < known)
        return find_kernel(thread, __atomic_load_n(&entry->kernels[index].function, __ATOMIC_RELAXED));
    return index == known && has_unknown ? "" : NULL;
}

const struct nb_policy_facts nb_cuda_policy_facts = {.context = query_context,
                                                     .kernel = find_kernel,
                                                     .node_kernel = find_node_kernel,
                                                     .config_stream = find_config_stream,
                                                     .graph_kernel = find_graph_kernel,
                                                     .config_attribute = find_config_attribute};
