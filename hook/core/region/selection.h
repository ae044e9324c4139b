/* The choice of a region as a state machine over NEUTRINO_REGION.
 *
 * No driver calls and no locks here: the caller holds the region's lock. */
#ifndef NEUTRINO_SELECTION_H
#define NEUTRINO_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#define NB_SELECTION_STREAMS                                                                                 \
    64u /* streams whose timing events are followed: the first ones that record any */

enum nb_selection_kind {
    NB_SELECT_PROGRAM, /* the program calls neutrino_region_begin */
    NB_SELECT_LAUNCHES,
    NB_SELECT_KERNEL,
    NB_SELECT_WINDOW
};

enum nb_step { NB_STEP_NONE, NB_STEP_BEGIN, NB_STEP_END };

/* The last timing event of a stream, if it may be the first of a pair. */
struct nb_selection_event {
    uint64_t stream;
    uint64_t work; /* number of operations before it */
    bool waits;    /* the second event of its pair is missing */
};

struct nb_selection {
    enum nb_selection_kind kind;
    uint64_t from, to;   /* for `launches` */
    uint64_t nth;        /* for `kernel` and `window` */
    const char *pattern; /* for `kernel`; points into the parsed text */

    uint64_t launches, matches, pairs, work;
    uint64_t window; /* stream of the captured pair, plus 1 */
    uint32_t streams;
    struct nb_selection_event events[NB_SELECTION_STREAMS];
};

/* False if `text` has none of the forms in region.h. NULL means "program". */
bool nb_selection_parse(const char *text, struct nb_selection *selection)
    __attribute__((visibility("hidden")));

/* Call before an operation (name as in nb_region_before_operation) and before a timing event is recorded.
 * Returns the step to take first; ignore an END if no region is open. */
enum nb_step nb_selection_operation(struct nb_selection *selection, const char *name)
    __attribute__((visibility("hidden")));
enum nb_step nb_selection_timing_event(struct nb_selection *selection, uint64_t stream)
    __attribute__((visibility("hidden")));

/* Has the program made every launch of this region? The region ends when they have returned. */
bool nb_selection_has_all_launches(const struct nb_selection *selection)
    __attribute__((visibility("hidden")));

/* Restart from the state after parsing. */
void nb_selection_restart(struct nb_selection *selection) __attribute__((visibility("hidden")));

/* Does the name match, or the plain name inside a mangled one (`scale` in _Z5scalePf)? */
bool nb_kernel_name_matches(const char *pattern, const char *name) __attribute__((visibility("hidden")));

#endif
