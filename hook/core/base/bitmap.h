/* Runs of bits that mark equal pieces as taken or free. */
#ifndef NEUTRINO_BITMAP_H
#define NEUTRINO_BITMAP_H

#include <stddef.h>
#include <stdint.h>

#define NB_BITMAP_WORDS(count) (((count) + 63) / 64)

/* Find the first set bit in [from, to), or the first clear bit if `inverted` is all ones. Returns `to` if
 * it finds none. */
static inline size_t nb_bitmap_next(const uint64_t *bits, size_t from, size_t to, uint64_t inverted)
{
    while (from < to) {
        const uint64_t matches = (bits[from / 64] ^ inverted) >> (from % 64);
        if (matches != 0) {
            from += (size_t)__builtin_ctzll(matches);
            break;
        }
        from = (from / 64 + 1) * 64;
    }
    return from < to ? from : to;
}

/* Find the first run of `length` clear bits that begins at a multiple of `step`. Returns `count` if it
 * finds none. */
static inline size_t nb_bitmap_find(const uint64_t *bits, size_t count, size_t length, size_t step)
{
    size_t begin = 0;
    while (length <= count && begin <= count - length) {
        const size_t first_set = nb_bitmap_next(bits, begin, begin + length, 0);
        if (first_set == begin + length)
            return begin;
        begin = nb_bitmap_next(bits, first_set, count, ~UINT64_C(0));
        begin = (begin + step - 1) / step * step;
    }
    return count;
}

static inline void nb_bitmap_set(uint64_t *bits, size_t from, size_t length, int value)
{
    for (size_t i = from; i < from + length; i++)
        if (value)
            bits[i / 64] |= UINT64_C(1) << (i % 64);
        else
            bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

#endif
