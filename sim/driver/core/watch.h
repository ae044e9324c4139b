/* What an export asks before it does anything (generated); inject.h says what for. */
#ifndef NEUTRINO_SIM_WATCH_H
#define NEUTRINO_SIM_WATCH_H

#include <stdatomic.h>

/* Not 0 while there are rules, and until SIM_INJECT has been read, which the first call of any function does.
 */
extern atomic_int sim_watched __attribute__((visibility("hidden")));

/* One branch, never taken unless calls are watched. */
#define SIM_WATCHED (__builtin_expect(atomic_load_explicit(&sim_watched, memory_order_relaxed) != 0, 0))

/* The exports, generated; `number` below is an index. */
extern const char *const sim_functions[];
extern const unsigned sim_function_count;

/* Count a call and do what the rules say: what it is to return, without doing anything, or -1 to go on. */
__attribute__((cold, visibility("hidden"))) int sim_inject(unsigned number);

#endif
