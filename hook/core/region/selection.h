/* How a region is chosen, and how far the program has come: NEUTRINO_REGION as a state machine.
 *
 * Pure: no driver, no lock. Whoever calls holds the region's lock. */
#ifndef NEUTRINO_SELECTION_H
#define NEUTRINO_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#define NB_SELECTION_STREAMS                                                                                 \
    64u /* streams on which timing events are followed; the first ones that have any */

enum nb_selection_kind {
    NB_SELECT_PROGRAM, /* the program says itself */
    NB_SELECT_LAUNCHES,
    NB_SELECT_KERNEL,
    NB_SELECT_WINDOW
};

enum nb_step { NB_STEP_NONE, NB_STEP_BEGIN, NB_STEP_END };

/* The last timing event of a stream, where it may be the first of a pair. */
struct nb_selection_event {
    uint64_t stream;
    uint64_t work; /* operations before it */
    bool waits;    /* for the second of its pair */
};

struct nb_selection {
    enum nb_selection_kind kind;
    uint64_t from, to;   /* launches */
    uint64_t nth;        /* kernel, window */
    const char *pattern; /* kernel; points into the text that was parsed */

    uint64_t launches, matches, pairs, work;
    uint64_t window; /* stream of the pair that is recorded */
    uint32_t streams;
    struct nb_selection_event events[NB_SELECTION_STREAMS];
};

/* False if `text` is none of region.h's forms. NULL is "program". */
bool nb_selection_parse(const char *text, struct nb_selection *selection)
    __attribute__((visibility("hidden")));

/* Before an operation (name as in nb_region_before_operation), before a timing event's record. What is to be
 * done first: an END where no region is open is nothing. */
enum nb_step nb_selection_operation(struct nb_selection *selection, const char *name)
    __attribute__((visibility("hidden")));
enum nb_step nb_selection_timing_event(struct nb_selection *selection, uint64_t stream)
    __attribute__((visibility("hidden")));

/* Has the program made every launch that this region has? Then it ends when they have returned. */
bool nb_selection_has_all_launches(const struct nb_selection *selection)
    __attribute__((visibility("hidden")));

/* Nothing has happened yet. */
void nb_selection_restart(struct nb_selection *selection) __attribute__((visibility("hidden")));

/* Does a kernel's name, or the plain name inside a mangled one (`scale` in _Z5scalePf), match? */
bool nb_kernel_name_matches(const char *pattern, const char *name) __attribute__((visibility("hidden")));

#endif
