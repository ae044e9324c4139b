/* Memory at a random address that holds all our state and the stack that our code runs on. It cannot be
 * touched while the submission runs.
 *
 * Keys, saved driver functions, device addresses, events and results are in it, and so are the frames of the
 * functions that use them: what is not in the arena does not know. gate.S opens and closes it. */
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

/* What gate.S needs to open the arena: a page of its own, which may only be read once the arena is closed. */
struct nb_gate {
    uint64_t base, bytes, head;
    uint64_t reserved, reserved_bytes; /* around it, never to be touched */
    uint8_t pad[4096 - 5 * sizeof(uint64_t)];
};

enum nb_gate_state { NB_OUTSIDE = 0, NB_INSIDE = 1, NB_LENT = 2 };

/* At the arena's stack's upper end. */
struct nb_arena_head {
    uint64_t inner, outer; /* stack pointers: ours while the submission runs, its own while we do */
    uint64_t owner;        /* thread */
    uint32_t state;        /* enum nb_gate_state */
    uint32_t pad;
    uint64_t used; /* bytes of what follows the head */
    struct nb_session *session;
};

extern struct nb_gate nb_gate __attribute__((visibility("hidden")));

bool nb_arena_build(void) __attribute__((visibility("hidden")));

/* Zeroed; NULL if there is no more. Nothing is freed. */
void *nb_arena_take(uint64_t count, size_t bytes) __attribute__((visibility("hidden")));

struct nb_arena_head *nb_arena_head(void) __attribute__((visibility("hidden")));

/* For good: from here on gate.S alone opens it. */
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
