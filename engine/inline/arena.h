/* The arena: memory at a random address for all state of the loop and for the stack of its code. It cannot be
 * accessed while the submission runs.
 *
 * Keys, saved driver functions, device addresses, events and results are in it, and the frames of the
 * functions that use them, so that no copy lies outside. gate.S opens and closes it. */
#ifndef NEUTRINO_INLINE_ARENA_H
#define NEUTRINO_INLINE_ARENA_H

/* Read by gate.S, too. */
#define NB_HEAD_INNER 0
#define NB_HEAD_OUTER 8
#define NB_HEAD_OWNER 16
#define NB_HEAD_STATE 24
#define NB_GATE_BASE  0
#define NB_GATE_BYTES 8
#define NB_GATE_HEAD  16

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nb_session;

/* Data with which gate.S opens the arena: a page of its own, readable only once the arena is closed. */
struct nb_gate {
    uint64_t base, bytes, head;
    uint64_t reserved, reserved_bytes; /* around it, never to be touched */
    uint8_t pad[4096 - 5 * sizeof(uint64_t)];
};

enum nb_gate_state { NB_OUTSIDE = 0, NB_INSIDE = 1, NB_LENT = 2 };

/* At the upper end of the arena's stack. */
struct nb_arena_head {
    uint64_t inner, outer; /* stack pointers: the loop's while the submission runs, the submission's while the
                              loop runs */
    uint64_t owner;        /* thread */
    uint32_t state;        /* enum nb_gate_state */
    uint32_t pad;
    uint64_t used; /* bytes of what follows the head */
    struct nb_session *session;
};

extern struct nb_gate nb_gate __attribute__((visibility("hidden")));

bool nb_arena_build(void) __attribute__((visibility("hidden")));

/* Zeroed memory, never freed; NULL if the arena is full. */
void *nb_arena_take(uint64_t count, size_t bytes) __attribute__((visibility("hidden")));

struct nb_arena_head *nb_arena_head(void) __attribute__((visibility("hidden")));

/* Close the arena for good: only gate.S can open it from here on. */
bool nb_arena_close(void) __attribute__((visibility("hidden")));

/* gate.S */

/* Opens the arena, runs nb_inside(request) on its stack, closes it. */
int nb_gate_enter(void *request) __attribute__((visibility("hidden")));

/* From within: closes the arena, calls function(first, second) on the submission's stack, opens it again. */
void *nb_gate_lend(void *(*function)(void *, void *), void *first, void *second)
    __attribute__((visibility("hidden")));

extern const char nb_gate_enter_opens[] __attribute__((visibility("hidden")));
extern const char nb_gate_lend_opens[] __attribute__((visibility("hidden")));

#endif
#endif
