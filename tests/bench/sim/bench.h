/* The kernels as sequential C loops: reference results and reference time. */
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
