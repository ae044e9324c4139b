/* The region of a program that is captured: its choice and its state.
 *
 * The environment selects the region (docs/architecture.md):
 *     NEUTRINO_CAPTURE=FOLDER            folder for raw captures; without it no region is captured
 *     NEUTRINO_REGION=program            the program calls neutrino_region_begin and _end
 *                     launches=A:B       launches A to B - 1, counted from 0, and the operations between
 *                     kernel=N:PATTERN   the Nth launch, from 1, of a kernel whose name matches (fnmatch)
 *                     window=N           the Nth pair of timing event records on one stream with work
 *                                        between them; each record belongs to one pair at most
 *
 * A region begins and ends outside the driver, between two operations. A region that never ends leaves a raw
 * capture without NB_CAPTURE_END. */
#ifndef NEUTRINO_REGION_H
#define NEUTRINO_REGION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/process/component.h"

enum nb_region_state {
    NB_REGION_OFF = 0,   /* the process is not captured */
    NB_REGION_ARMED = 1, /* no region is open: the arena serves device memory, and triggers are watched */
    NB_REGION_OPEN = 2   /* operations are captured now */
};

extern _Atomic uint32_t nb_region_state_now __attribute__((visibility("hidden")));

/* True from the first driver call on in a process whose regions are captured: device memory then comes
 * from the arena. */
static inline bool nb_capture_enabled(void)
{
    return __builtin_expect(atomic_load_explicit(&nb_region_state_now, memory_order_relaxed) != NB_REGION_OFF,
                            0);
}

static inline bool nb_region_is_open(void)
{
    return __builtin_expect(
        atomic_load_explicit(&nb_region_state_now, memory_order_acquire) == NB_REGION_OPEN, 0);
}

/* Hooks call this before an operation, if nb_capture_enabled(). It may begin or end a region. `name` is
 * the kernel's name, "" for a graph launch (one launch, whatever the graph contains), or NULL for an
 * operation that is not a launch. Not for launches that stream capture takes. */
void nb_region_before_operation(const char *name) __attribute__((visibility("hidden")));

/* Hooks call this after a launch of a kernel or a graph, when the launch was appended or has failed. It
 * may end the region. */
void nb_region_after_launch(void) __attribute__((visibility("hidden")));

/* Hooks call this before a timing event is recorded. */
void nb_region_before_timing_event(uint64_t stream) __attribute__((visibility("hidden")));

/* Operations that depend on the vendor's driver. */
struct nb_region_operations {
    /* Write the state when a region begins (device, limits, memory) and when it ends (memory if
     * `stores_after`, allocations, globals). Return 0 or the driver's error. */
    int (*begin)(bool stores_after);
    int (*end)(bool stores_after);

    /* Does the capture contain all of these bytes, in allocations of the program or in one global of a
     * module? Only while a region is open. */
    bool (*holds)(uint64_t address, uint64_t bytes);
};

/* Whether the content of this memory, all of it, is given to each replay of the region: then it is not
 * stored. Only while a region begins or ends. */
bool nb_region_is_given(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

/* Called once, by the composition root. */
void nb_region_install(const struct nb_region_operations *operations) __attribute__((visibility("hidden")));

extern const struct nb_component nb_region_component __attribute__((visibility("hidden")));

/* Exported beside the driver's names, for benchguard.region(). They return 0, or -1 with a text for users
 * in neutrino_region_error of the calling thread. */
#define NB_REGION_API __attribute__((visibility("default")))
NB_REGION_API int neutrino_region_begin(const char *name);
/* Whether the next regions of this process store the memory after them (not 0, as without this call), with
 * which a replay can be compared, or only the memory before them. */
NB_REGION_API int neutrino_region_memory_after(int stored);
/* Each replay of the next regions of this process is given the content of these `count` ranges, so the
 * content of allocations that lie in one of them is not stored. */
NB_REGION_API int neutrino_region_given(const uint64_t *addresses, const uint64_t *bytes, uint32_t count);
NB_REGION_API int neutrino_region_end(void);
NB_REGION_API int neutrino_region_range(const char *name, uint32_t role, uint64_t address, uint64_t bytes,
                                        const char *type, const uint64_t *shape, uint32_t rank);
NB_REGION_API const char *neutrino_region_error(void);

#endif
