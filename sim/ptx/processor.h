/* Processor generations that loops are compiled for, since the library may run on another machine than the
 * one it is built on. */
#ifndef NEUTRINO_SIM_PTX_PROCESSOR_H
#define NEUTRINO_SIM_PTX_PROCESSOR_H

#if defined(__x86_64__)
#define PROCESSOR_AVX2   __attribute__((target("avx2,fma")))
#define PROCESSOR_AVX512 __attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")))
/* The versions of a constant, indexed by ptx_processor(). */
#define PROCESSORS(name) {&name##_any, &name##_avx2, &name##_avx512}
#else
#define PROCESSORS(name) {&name##_any}
#endif

static inline unsigned ptx_processor(void)
{
#if defined(PTX_PROCESSOR) /* tests select loops that this processor would not choose */
    return PTX_PROCESSOR;
#elif defined(__x86_64__)
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return 2;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
#else
    return 0;
#endif
}

#endif
