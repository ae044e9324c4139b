/* Every function of the echo driver is made by this: it notes what it was called with and says who it is.
 *
 * Its type differs from every type of the driver's own functions. It takes what any of them may take:
 * fourteen words, of which the ABI passes six in registers and eight on the stack, and one double. */
#ifndef ECHO_DRIVER_H
#define ECHO_DRIVER_H

#include <string.h>

#define ECHO_WORDS 14

struct echo {
    int number;
    long words[ECHO_WORDS];
    double number_in_a_vector_register;
};

__attribute__((visibility("default"))) extern struct echo echo_last;

#define ECHO(name, index)                                                                                    \
    __attribute__((visibility("default"))) int name(long a, long b, long c, long d, long e, long f, long g,  \
                                                    long h, long i, long j, long k, long l, long m, long n,  \
                                                    double x);                                               \
    int name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, \
             long m, long n, double x)                                                                       \
    {                                                                                                        \
        const struct echo now = {index, {a, b, c, d, e, f, g, h, i, j, k, l, m, n}, x};                      \
        memcpy(&echo_last, &now, sizeof now);                                                                \
        return 100000 + (index);                                                                             \
    }

#endif
