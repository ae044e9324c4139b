/* The same loops in C, one thread after the other: what the kernels must compute, and what that costs here.
 */
#ifndef NEUTRINO_BENCH_SIM_H
#define NEUTRINO_BENCH_SIM_H

#include <stdint.h>

enum { THREADS = 256 };

struct arguments {
    uint32_t *out, *a, *b;
    uint32_t threads, count;
};

typedef void plain(const struct arguments *arguments);

plain plain_integers, plain_floats, plain_copy, plain_matrices, plain_divergent, plain_atomics;

#endif
