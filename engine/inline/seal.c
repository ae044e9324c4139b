#include "inline/seal.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { WORD_BYTES = 7 };

#define PRIME ((UINT64_C(1) << 61) - 1)

static const char result_magic[8] = "nbtimes", sealed_magic[4] = "nbS";

_Static_assert(sizeof(struct nb_row) == 32, "a row's layout is part of the format");
_Static_assert(sizeof(struct nb_result) == 40 + 32 * NB_INLINE_SAMPLES_MAX, "so is a result's");
_Static_assert(sizeof(struct nb_sealed) == sizeof(struct nb_result) + 16, "and a sealed one's");

/* Reduce a number below 2^122. */
static uint64_t reduced(wide number)
{
    const uint64_t sum = (uint64_t)(number & PRIME) + (uint64_t)(number >> 61);
    return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t code_of(const struct nb_seal_key *key, uint32_t case_number, const uint8_t *data,
                        size_t bytes)
{
    const uint64_t point = reduced(key->point & PRIME);
    uint64_t sum = reduced((wide)case_number * point);
    for (size_t at = 0; at < bytes; at += WORD_BYTES) {
        uint64_t word = 0;
        memcpy(&word, data + at, bytes - at < WORD_BYTES ? bytes - at : WORD_BYTES);
        sum = reduced((wide)reduced((wide)sum + word) * point);
    }
    return reduced((wide)sum + (key->mask & PRIME));
}

void nb_seal(struct nb_seal_key *key, const struct nb_result *result, struct nb_sealed *sealed)
{
    memcpy(sealed->data, result, sizeof *result);
    memcpy(sealed->data, result_magic, sizeof result_magic);
    for (size_t i = 0; i < sizeof sealed->data; i++)
        sealed->data[i] ^= key->pad[i];
    memcpy(sealed->magic, sealed_magic, sizeof sealed_magic);
    sealed->case_number = result->case_number;
    sealed->code = code_of(key, result->case_number, sealed->data, sizeof sealed->data);
    nb_wipe(key, sizeof *key);
}

void nb_wipe(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
    __asm__ volatile("" : : "r"(memory) : "memory");
}
