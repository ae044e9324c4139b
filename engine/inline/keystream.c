#include "inline/keystream.h"

enum { LANES = 4, ROUNDS = 8 };

/* A word of four blocks. */
typedef uint32_t four __attribute__((vector_size(16), may_alias));

static inline four rotated(four value, int count)
{
    return (value << count) | (value >> (32 - count));
}

static inline void quarter(four *s, int a, int b, int c, int d)
{
    s[a] += s[b], s[d] = rotated(s[d] ^ s[a], 16);
    s[c] += s[d], s[b] = rotated(s[b] ^ s[c], 12);
    s[a] += s[b], s[d] = rotated(s[d] ^ s[a], 8);
    s[c] += s[d], s[b] = rotated(s[b] ^ s[c], 7);
}

static void set_up(four *state, const struct nb_key *key, uint64_t stream, uint64_t block)
{
    static const uint32_t constants[4] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u};
    for (int i = 0; i < 4; i++)
        state[i] = (four){0} + constants[i];
    for (int i = 0; i < 8; i++)
        state[4 + i] = (four){0} + key->words[i];
    for (int lane = 0; lane < LANES; lane++) {
        state[12][lane] = (uint32_t)(block + (uint64_t)lane);
        state[13][lane] = (uint32_t)((block + (uint64_t)lane) >> 32);
    }
    state[14] = (four){0} + (uint32_t)stream;
    state[15] = (four){0} + (uint32_t)(stream >> 32);
}

void nb_keystream(void *memory, uint64_t bytes, const struct nb_key *key, uint64_t stream, uint64_t first)
{
    uint32_t *words = memory;
    for (uint64_t done = 0; done < bytes; done += (uint64_t)LANES * NB_BLOCK_BYTES) {
        four before[16], state[16];
        set_up(before, key, stream, first + done / NB_BLOCK_BYTES);
        for (int i = 0; i < 16; i++)
            state[i] = before[i];
        for (int round = 0; round < ROUNDS; round += 2) {
            for (int i = 0; i < 4; i++)
                quarter(state, i, 4 + i, 8 + i, 12 + i);
            for (int i = 0; i < 4; i++)
                quarter(state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
        }
        for (int lane = 0; lane < LANES; lane++)
            for (int i = 0; i < 16; i++)
                *words++ ^= state[i][lane] + before[i][lane];
    }
}
