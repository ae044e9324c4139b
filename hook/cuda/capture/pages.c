#include "cuda/capture/pages.h"

#include <stddef.h>
#include <string.h>

#include "core/base/vector.h"
#include "core/wire/capture_format.h"

#define LANES 8
#define WORDS (NB_CAPTURE_PAGE / 8)

struct page {
    uint64_t address, hash;
};

static struct nb_vector pages = NB_VECTOR_INITIALIZER(struct page);
static bool is_incomplete;
static size_t next; /* pages are asked for in the order in which they were remembered, but for new ones */

static inline uint64_t mixed(uint64_t hash, uint64_t word)
{
    const uint64_t sum = hash ^ word;
    return ((sum << 29) | (sum >> 35)) * 0x9e3779b97f4a7c15u; /* odd, so no step loses a bit */
}

/* Lanes are independent, so that the processor multiplies several words at once. */
static uint64_t hash_of(const unsigned char *page)
{
    uint64_t words[WORDS], lanes[LANES];
    memcpy(words, page, sizeof words);
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = i + 1;
    for (size_t at = 0; at < WORDS; at += LANES)
        for (size_t i = 0; i < LANES; i++)
            lanes[i] = mixed(lanes[i], words[at + i]);
    uint64_t hash = 0;
    for (size_t i = 0; i < LANES; i++)
        hash = mixed(hash, lanes[i]);
    return hash ^ hash >> 32;
}

static uint64_t hash_of_zeros(void)
{
    static uint64_t hash;
    static const unsigned char zeros[NB_CAPTURE_PAGE];
    if (hash == 0)
        hash = hash_of(zeros);
    return hash;
}

static const struct page *page_at(size_t index)
{
    return index < pages.count ? nb_vector_item(&pages, index) : NULL;
}

/* Index of the first page at `address` or above. */
static size_t lower_bound(uint64_t address)
{
    size_t low = 0, high = pages.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (page_at(middle)->address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void nb_pages_remember(uint64_t address, const unsigned char *page)
{
    const struct page item = {address, hash_of(page)};
    const struct page *last = pages.count != 0 ? page_at(pages.count - 1) : NULL;
    const bool is_ascending = last == NULL || last->address < address;
    is_incomplete |= !is_ascending || !nb_vector_append(&pages, &item);
}

bool nb_pages_is_as_before(uint64_t address, const unsigned char *page)
{
    if (is_incomplete)
        return false;
    const struct page *found = page_at(next);
    if (found == NULL || found->address != address) {
        next = lower_bound(address);
        found = page_at(next);
    }
    const bool is_known = found != NULL && found->address == address;
    next += is_known;
    return hash_of(page) == (is_known ? found->hash : hash_of_zeros());
}

void nb_pages_forget(void)
{
    nb_vector_free(&pages);
    is_incomplete = false;
    next = 0;
}
