/* The kernel refuses system calls that would open the arena or change code, whoever makes them.
 *
 * All of it is decided by the filter, from a call's numbers: the addresses that are guarded and the two
 * instructions that may open the arena are constants in it, so no supervisor has to look at memory that
 * changes meanwhile, and it works where calls cannot be handed on (gVisor). What is refused is told to the
 * supervisor where that is possible. */
#ifndef NEUTRINO_INLINE_FILTER_H
#define NEUTRINO_INLINE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum { NB_RANGES_MAX = 8 };

struct nb_range {
    uint64_t begin, end;
};

struct nb_guarded {
    struct nb_range ranges[NB_RANGES_MAX];
    uint32_t count;
    uint32_t pad;
    uint64_t arena, arena_bytes; /* what nb_gate's two instructions may open, and anyone may close */
    uint64_t openers[2];         /* the addresses behind them */
};

/* For all threads. -1: not possible here, nothing has changed. Else in force, and `listener` is the
 * descriptor of what is refused, or -1 where it is refused silently. */
int nb_filter_install(const struct nb_guarded *guarded, int *listener) __attribute__((visibility("hidden")));

/* In a child: whether such a filter tells calls apart as it must. */
bool nb_filter_works(void) __attribute__((visibility("hidden")));

#endif
