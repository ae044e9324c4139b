/* Trusted kernels around the submission's work: one that ends directly before it, one that begins directly
 * after it.
 *
 * Their results are added to noise at places drawn for each sample. A submission that finds the places still
 * cannot compute the amounts of right results, which depend on another secret. */
#ifndef NEUTRINO_INLINE_WINDOW_H
#define NEUTRINO_INLINE_WINDOW_H

#include "inline/session.h"

enum nb_cell { NB_CELL_BEGAN, NB_CELL_ENDED, NB_CELL_WRONG, NB_CELL_TALLY, NB_CELLS };

struct nb_window {
    CUdeviceptr cells[NB_CELLS];
    uint64_t before[NB_CELLS]; /* the noise that was there */
    uint64_t token, right;     /* what the tally has grown by, if all is right */
    uint64_t canaries;         /* seed of their places */
    CUevent start, end;
    bool stamped; /* a check has taken the time */
};

struct nb_seen {
    double event_us, stamp_us;
    uint64_t wrong;
    bool altered;
};

/* Draws the secrets. The device is idle. */
int nb_window_draw(const struct nb_session *session, struct nb_window *window)
    __attribute__((visibility("hidden")));

/* Queue the canaries' restoring and the start event; `restore` says what is restored from where. */
int nb_window_begin(const struct nb_session *session, const struct nb_window *window,
                    struct nb_restore *restore) __attribute__((visibility("hidden")));

/* Queue the end event, for all work that was queued until now. */
int nb_window_end(const struct nb_session *session, const struct nb_window *window)
    __attribute__((visibility("hidden")));

/* Queue the comparison of one output: `check` has the key, the addresses and the rules. */
int nb_window_check(const struct nb_session *session, struct nb_window *window, struct nb_check *check)
    __attribute__((visibility("hidden")));

/* Read the results from the idle device. */
int nb_window_read(const struct nb_session *session, const struct nb_window *window, struct nb_seen *seen)
    __attribute__((visibility("hidden")));

/* Measure the cost of an empty window, before the submission is loaded. */
int nb_window_measure(struct nb_session *session) __attribute__((visibility("hidden")));

#endif
