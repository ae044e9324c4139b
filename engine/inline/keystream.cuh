/* ChaCha's block function (RFC 8439) with eight rounds and 64 bits each of counter and stream. */
#ifndef NEUTRINO_INLINE_KEYSTREAM_CUH
#define NEUTRINO_INLINE_KEYSTREAM_CUH

#include "inline/kernels.h"

static __device__ __forceinline__ uint32_t rotate(uint32_t value, int count)
{
    return __funnelshift_l(value, value, count);
}

static __device__ __forceinline__ void quarter(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d)
{
    a += b, d = rotate(d ^ a, 16);
    c += d, b = rotate(b ^ c, 12);
    a += b, d = rotate(d ^ a, 8);
    c += d, b = rotate(b ^ c, 7);
}

/* 64 bytes of keystream. */
static __device__ void keystream(const nb_key &key, uint64_t stream, uint64_t block, uint32_t words[16])
{
    const uint32_t first[16] = {0x61707865u,      0x3320646eu,
                                0x79622d32u,      0x6b206574u,
                                key.words[0],     key.words[1],
                                key.words[2],     key.words[3],
                                key.words[4],     key.words[5],
                                key.words[6],     key.words[7],
                                (uint32_t)block,  (uint32_t)(block >> 32),
                                (uint32_t)stream, (uint32_t)(stream >> 32)};
#pragma unroll
    for (int i = 0; i < 16; i++)
        words[i] = first[i];
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        quarter(words[0], words[4], words[8], words[12]);
        quarter(words[1], words[5], words[9], words[13]);
        quarter(words[2], words[6], words[10], words[14]);
        quarter(words[3], words[7], words[11], words[15]);
        quarter(words[0], words[5], words[10], words[15]);
        quarter(words[1], words[6], words[11], words[12]);
        quarter(words[2], words[7], words[8], words[13]);
        quarter(words[3], words[4], words[9], words[14]);
    }
#pragma unroll
    for (int i = 0; i < 16; i++)
        words[i] += first[i];
}

#endif
