/* Questions of a policy that only the vendor's driver can answer. */
#ifndef NEUTRINO_POLICY_FACTS_H
#define NEUTRINO_POLICY_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/ring/ring.h"

/* Facts that depend on the vendor's driver. */
struct nb_policy_facts {
    uint64_t (*context)(void);
    const char *(*kernel)(struct nb_thread *thread, uint64_t function); /* "" if unknown */
    uint64_t (*node_kernel)(uint64_t node_parameters);                  /* its function */
    /* The name of a graph's kernel, "" for kernels that are unknown. NULL: the graph has no kernel `index`.
     */
    const char *(*graph_kernel)(struct nb_thread *thread, uint64_t executable, uint32_t index);
    uint64_t (*config_stream)(uint64_t config);
    bool (*config_attribute)(uint64_t config, uint32_t index, uint32_t *id); /* false: it has no such one */
};

#endif
