/* The check that every generated export makes first: see inject.h. */
#ifndef NEUTRINO_SIM_WATCH_H
#define NEUTRINO_SIM_WATCH_H

#include <stdatomic.h>

/* Not 0 while rules are active. Also not 0 before the first call, which reads SIM_INJECT. */
extern atomic_int sim_watched __attribute__((visibility("hidden")));

/* A single branch, not taken without rules. */
#define SIM_WATCHED (__builtin_expect(atomic_load_explicit(&sim_watched, memory_order_relaxed) != 0, 0))

/* Names of the exports, generated. `number` below is an index. */
extern const char *const sim_functions[];
extern const unsigned sim_function_count;

/* Count a call and apply the rules. Returns the result to return at once, or -1 to make the call. */
__attribute__((cold, visibility("hidden"))) int sim_inject(unsigned number);

#endif
