/* The options of a module load that change its code: the shim keeps them in a capture, and the replay engine
 * passes them to the driver again.
 *
 * The values of these options are 32-bit numbers. All other options take buffers, times or addresses of the
 * recorded process. The numbers are those of CUjit_option, which are part of the driver's ABI; hook/cuda
 * checks them against cuda.h. */
#ifndef NEUTRINO_JIT_OPTIONS_H
#define NEUTRINO_JIT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define NB_JIT_OPTIONS(X)                                                                                    \
    X(MAX_REGISTERS, 0)                                                                                      \
    X(THREADS_PER_BLOCK, 1)                                                                                  \
    X(OPTIMIZATION_LEVEL, 7)                                                                                 \
    X(TARGET_FROM_CUCONTEXT, 8)                                                                              \
    X(TARGET, 9)                                                                                             \
    X(FALLBACK_STRATEGY, 10)                                                                                 \
    X(GENERATE_DEBUG_INFO, 11)                                                                               \
    X(GENERATE_LINE_INFO, 13)                                                                                \
    X(CACHE_MODE, 14)                                                                                        \
    X(FAST_COMPILE, 16)                                                                                      \
    X(LTO, 20)                                                                                               \
    X(FTZ, 21)                                                                                               \
    X(PREC_DIV, 22)                                                                                          \
    X(PREC_SQRT, 23)                                                                                         \
    X(FMA, 24)                                                                                               \
    X(OPTIMIZE_UNUSED_DEVICE_VARIABLES, 29)                                                                  \
    X(POSITION_INDEPENDENT_CODE, 30)                                                                         \
    X(MIN_CTA_PER_SM, 31)                                                                                    \
    X(MAX_THREADS_PER_BLOCK, 32)                                                                             \
    X(OVERRIDE_DIRECTIVE_VALUES, 33)

static inline bool nb_jit_option_changes_code(uint32_t option)
{
#define NB_JIT_CASE(name, number) case number:
    switch (option) {
        NB_JIT_OPTIONS(NB_JIT_CASE)
        return true;
    default:
        return false;
    }
#undef NB_JIT_CASE
}

#endif
