#include "core/image/sha256.h"

#include <string.h>

enum { BLOCK = 64, LENGTH = 8 };

const uint32_t nb_sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

static uint32_t read_big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void write_big_endian(uint8_t *bytes, uint64_t value, size_t count)
{
    while (count-- > 0) {
        bytes[count] = (uint8_t)value;
        value >>= 8;
    }
}

static void expand(const uint8_t *block, uint32_t words[64])
{
    for (int i = 0; i < 16; i++)
        words[i] = read_big_endian(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        const uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

void nb_sha256_portable(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    uint32_t words[64];
    for (; count > 0; count--, blocks += BLOCK) {
        expand(blocks, words);
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; i++) {
            const uint32_t one = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
                                 nb_sha256_constants[i] + words[i];
            const uint32_t two =
                (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + one;
            d = c;
            c = b;
            b = a;
            a = one + two;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
}

void nb_sha256(const void *data, size_t bytes, uint8_t digest[32])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    nb_sha256_blocks *blocks = nb_sha256_accelerated();
    if (blocks == NULL)
        blocks = nb_sha256_portable;
    const size_t whole = bytes / BLOCK, left = bytes % BLOCK;
    if (whole != 0)
        blocks(state, data, whole);

    uint8_t tail[2 * BLOCK] = {0}; /* the rest, a one bit, zeros, the length in bits */
    const size_t tail_blocks = left + 1 + LENGTH <= BLOCK ? 1 : 2;
    if (left != 0)
        memcpy(tail, (const uint8_t *)data + whole * BLOCK, left);
    tail[left] = 0x80;
    write_big_endian(tail + tail_blocks * BLOCK - LENGTH, (uint64_t)bytes * 8, LENGTH);
    blocks(state, tail, tail_blocks);
    for (int i = 0; i < 8; i++)
        write_big_endian(digest + 4 * i, state[i], 4);
}
