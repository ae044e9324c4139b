/* splitmix64, a random generator for which every seed is valid. */
#ifndef NEUTRINO_FUZZ_RANDOM_H
#define NEUTRINO_FUZZ_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number below `bound`, which must not be 0. */
static inline size_t random_below(struct random *random, size_t bound)
{
    return (size_t)(random_next(random) % bound);
}

static inline bool random_one_in(struct random *random, size_t times)
{
    return random_below(random, times) == 0;
}

/* A number from 0 to `most`; each magnitude is equally likely. */
static inline size_t random_scale(struct random *random, unsigned most_bits)
{
    return random_below(random, (size_t)1 << random_below(random, most_bits + 1));
}

#endif
