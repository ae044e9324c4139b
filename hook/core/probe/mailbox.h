/* Asks the supervisor for probed kernels, and hands traces to it (core/wire/probe.h). */
#ifndef NEUTRINO_PROBE_MAILBOX_H
#define NEUTRINO_PROBE_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/maps/funcmap.h"
#include "core/process/call.h"
#include "core/process/component.h"
#include "core/wire/probe.h"

extern atomic_bool nb_probes_wanted __attribute__((visibility("hidden")));

/* The test that each launch makes. */
static inline bool nb_probing(void)
{
    return __builtin_expect(atomic_load_explicit(&nb_probes_wanted, memory_order_relaxed), 0);
}

/* A checked copy of an answer. The images and the text are in the session memory. */
struct nb_probe_reply {
    uint32_t answer; /* its index */
    uint32_t map_count;
    struct nb_probe_map maps[NB_PROBE_MAPS_MAX];
    const char *image;        /* ends with a NUL that does not count */
    const char *pruned_image; /* likewise; NULL: the engine made none */
    const char *text;
    uint64_t text_bytes;
};

/* Ask for a probed form of `function` for a device of this compute capability (90), and wait for the answer.
 * Returns NULL, or the reason of a failure: "" if the supervisor knows it. */
const char *nb_probe_ask(const struct nb_call *call, const struct nb_function *function, uint64_t kernel,
                         uint32_t capability, struct nb_probe_reply *reply)
    __attribute__((visibility("hidden")));

/* The contents of a probe record. */
struct nb_probe_note {
    uint64_t kernel; /* its number */
    enum nb_probe_stage stage;
    uint32_t answer;
    uint64_t at, bytes, stream;
    uint32_t grid[3], block[3], shared_bytes, table_bytes;
    const char *text;
};
void nb_probe_write(const struct nb_call *call, const struct nb_probe_note *note)
    __attribute__((visibility("hidden")));

/* Room for the maps of a launch among the traces; NULL if they are full. `at` is its position. */
void *nb_probe_trace(uint64_t bytes, uint64_t *at) __attribute__((visibility("hidden")));

/* The limit of the maps of this process. */
uint64_t nb_probe_map_limit(void) __attribute__((visibility("hidden")));

/* Do launches take turns between the original, the pruned and the probed kernel? */
bool nb_probe_is_benchmark(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_probe_mailbox_component __attribute__((visibility("hidden")));

#endif
