/* Shared by the host and its kernels: secrets on the device, and the comparison of elements.
 *
 * Secrets in device memory are XORed with a keystream (ChaCha of eight rounds, RFC 8439's state), so that a
 * scan of all memory of the context finds noise. Keys are launch parameters; the key of expected values is in
 * no launch that is queued before the submission's work. */
#ifndef NEUTRINO_INLINE_KERNELS_H
#define NEUTRINO_INLINE_KERNELS_H

#include <stdint.h>

enum {
    NB_BLOCK_BYTES = 64,  /* of keystream that come at once: what a thread works on */
    NB_LINE_BYTES = 128,  /* of the L2 cache */
    NB_GROUP_LINES = 256, /* one line in 256 is a canary */
    NB_BUFFERS_MAX = 64,  /* of a case: problem/spec.py */
    NB_DIMENSIONS_MAX = 16,
    NB_CHECK_THREADS = 256 /* keystream blocks of expected values per thread block */
};

/* problem/spec.py's, in its order. */
enum nb_dtype {
    NB_FLOAT64,
    NB_FLOAT32,
    NB_FLOAT16,
    NB_BFLOAT16,
    NB_FLOAT8_E4M3,
    NB_FLOAT8_E5M2,
    NB_INT64,
    NB_INT32,
    NB_INT16,
    NB_INT8,
    NB_UINT64,
    NB_UINT32,
    NB_UINT16,
    NB_UINT8,
    NB_BOOL,
    NB_DTYPES
};

struct nb_key {
    uint32_t words[8];
};

/* `stream` separates data under one key; the counter is the block's number. */
struct nb_move {
    uint64_t to, from, bytes;
    uint64_t stream;
    uint64_t canaries; /* seed of their places; 0: none */
    struct nb_key key;
};

struct nb_restored {
    uint64_t to, from, bytes;
    uint64_t stream;
};

struct nb_restore {
    struct nb_key key;
    uint64_t canaries;
    uint64_t stamp; /* where the time at its end is added */
    uint32_t count;
    uint32_t pad;
    struct nb_restored buffers[NB_BUFFERS_MAX];
};

/* Outputs and expected values have the same layout, gaps included: `slots` elements and gaps. With gaps, or
 * another order of dimensions, `dimensions` lists dimensions by falling strides; a slot is an element if each
 * of its indexes is within the shape. */
struct nb_check {
    struct nb_key key;
    uint64_t actual, expected;
    uint64_t slots;
    uint64_t stream;
    uint64_t order; /* of the blocks: a secret */
    uint64_t token; /* what right blocks add to the tally comes of it: a secret */
    uint64_t tally; /* where */
    uint64_t wrong; /* where wrong elements are counted */
    uint64_t stamp; /* where the time is added; 0: nowhere */
    double absolute, relative;
    uint32_t dtype, expected_dtype; /* enum nb_dtype */
    uint32_t blocks;
    uint32_t dimensions;
    uint64_t shape[NB_DIMENSIONS_MAX], strides[NB_DIMENSIONS_MAX];
};

#ifdef __CUDACC__
#define NB_BOTH static __host__ __device__ __forceinline__
#else
#define NB_BOTH static inline
#endif

/* The finaliser of splitmix64 (Steele et al., OOPSLA 2014). */
NB_BOTH uint64_t nb_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* The amount that block `number` adds to the tally if all of its elements are right. */
NB_BOTH uint64_t nb_token(uint64_t secret, uint64_t number)
{
    return nb_mix(nb_mix(secret + number * UINT64_C(0x9e3779b97f4a7c15)) ^ secret);
}

#endif
