/* A seccomp filter that refuses system calls that would open the arena or change code.
 *
 * The filter decides by the numbers of a call alone: the guarded addresses and the two instructions that may
 * open the arena are constants in it. So no supervisor must inspect memory that changes meanwhile, and the
 * filter works where calls cannot be forwarded (gVisor). Where possible, refused calls are reported to the
 * supervisor. */
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

/* Install the filter for all threads. -1: not possible, and nothing has changed. Otherwise `listener` is the
 * descriptor of refused calls, or -1 if they are refused silently. */
int nb_filter_install(const struct nb_guarded *guarded, int *listener) __attribute__((visibility("hidden")));

/* Test in a child whether such a filter distinguishes calls as it must. */
bool nb_filter_works(void) __attribute__((visibility("hidden")));

#endif
