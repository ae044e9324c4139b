#include "cuda/policy/facts.h"

#include <cuda.h>

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

static uint32_t list_config_attributes(uint64_t config, uint32_t *ids, uint32_t most)
{
    const CUlaunchConfig *launch = pointer(config);
    const uint32_t given = launch->attrs != NULL ? launch->numAttrs : 0;
    const uint32_t count = given < most ? given : most;
    for (uint32_t i = 0; i < count; i++)
        ids[i] = (uint32_t)launch->attrs[i].id;
    return count;
}

const struct nb_policy_facts nb_cuda_policy_facts = {.context = query_context,
                                                     .kernel = find_kernel,
                                                     .node_kernel = find_node_kernel,
                                                     .config_stream = find_config_stream,
                                                     .config_attributes = list_config_attributes};
