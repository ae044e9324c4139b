/* Rules of memory: the addresses that a capture has, and runs of memory content. */
#include <inttypes.h>

#include "replay/base/error.h"
#include "replay/capture/check.h"
#include "replay/capture/tables.h"

static bool is_before(const struct nb_address_range *one, const struct nb_address_range *other)
{
    return one->begin != other->begin ? one->begin < other->begin : one->last < other->last;
}

static void sift_down(struct nb_address_range *at, uint32_t root, uint32_t count)
{
    for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && is_before(&at[child], &at[child + 1]))
            child++;
        if (!is_before(&at[root], &at[child]))
            return;
        const struct nb_address_range moved = at[root];
        at[root] = at[child];
        at[child] = moved;
    }
}

/* Heapsort: qsort of glibc allocates and asks for the size of memory, which the sandbox forbids. */
static void sort(struct nb_ranges *ranges)
{
    for (uint32_t root = ranges->count / 2; root-- > 0;)
        sift_down(ranges->at, root, ranges->count);
    for (uint32_t end = ranges->count; end-- > 1;) {
        const struct nb_address_range largest = ranges->at[0];
        ranges->at[0] = ranges->at[end];
        ranges->at[end] = largest;
        sift_down(ranges->at, 0, end);
    }
}

/* Joins adjacent and overlapping ranges. */
static void join(struct nb_ranges *ranges)
{
    uint32_t joined = 0;
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct nb_address_range *each = &ranges->at[i];
        struct nb_address_range *before = joined != 0 ? &ranges->at[joined - 1] : NULL;
        if (before == NULL || (before->last != UINT64_MAX && each->begin > before->last + 1))
            ranges->at[joined++] = *each;
        else if (each->last > before->last)
            before->last = each->last;
    }
    ranges->count = joined;
}

/* Makes `last` the maximum so far, so that one comparison tells whether any earlier range holds an address.
 */
static void reach(struct nb_ranges *ranges)
{
    for (uint32_t i = 1; i < ranges->count; i++)
        if (ranges->at[i].last < ranges->at[i - 1].last)
            ranges->at[i].last = ranges->at[i - 1].last;
}

static bool holds(const struct nb_ranges *ranges, uint64_t address, nb_wide bytes)
{
    uint32_t low = 0, high = ranges->count; /* ranges before `low` begin at or before the address */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ranges->at[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 && bytes - 1 <= (nb_wide)ranges->at[low - 1].last - address &&
           ranges->at[low - 1].last >= address;
}

bool nb_memory_holds(const struct nb_checker *checker, uint64_t address, nb_wide bytes)
{
    return bytes == 0 || holds(&checker->allocations, address, bytes) ||
           holds(&checker->globals, address, bytes);
}

static bool make(struct nb_reader_file *file, struct nb_ranges *ranges, uint32_t count)
{
    ranges->count = count;
    ranges->at = nb_file_take_scratch(file, ((uint64_t)count + 1) * sizeof *ranges->at);
    return ranges->at != NULL;
}

uint64_t nb_check_memory_scratch(const struct nb_reader_file *file)
{
    const uint64_t ranges =
        2 * nb_tables_count(file, NB_CAPTURE_ALLOCATION) + 2 * nb_tables_count(file, NB_CAPTURE_GLOBAL) + 4;
    return ranges * sizeof(struct nb_address_range);
}

static int check_amount(const struct nb_checker *checker)
{
    nb_wide bytes = 0;
    for (uint32_t i = 0; i < checker->pages.count; i++)
        bytes += (nb_wide)checker->pages.at[i].last - checker->pages.at[i].begin + 1;
    return bytes <= checker->limits->device_bytes
               ? NB_REPLAY_OK
               : nb_error(checker->error, NB_REPLAY_BAD_CAPTURE,
                          "its allocations are larger than the %" PRIu64 " bytes of device memory allowed",
                          checker->limits->device_bytes);
}

/* FNV-1a (Fowler, Noll, Vo) of a symbol. Two symbols of one hash count as one: a submission that makes such
 * names harms itself alone. */
static uint64_t hash_symbol(const struct nb_reader *reader, const struct nb_capture_global *global)
{
    uint64_t hash = 0xcbf29ce484222325 ^ global->module;
    for (uint64_t i = 0; i < global->name.bytes; i++)
        hash = (hash ^ reader->data[global->name.offset + i]) * 0x100000001b3;
    return hash;
}

/* Two names for one byte would let a submission turn its input and its output into one memory. Sorted ranges
 * are disjoint if each range begins after its predecessor ends. */
static const char *check_names(const struct nb_checker *checker, struct nb_ranges *symbols)
{
    const struct nb_reader *reader = checker->reader;
    for (uint32_t i = 0; i < reader->global_count; i++)
        symbols->at[i] = (struct nb_address_range){hash_symbol(reader, &reader->globals[i]), i};
    sort(symbols);
    const struct nb_address_range *all = checker->globals.at, *allocated = checker->allocations.at;
    for (uint32_t i = 1; i < reader->global_count; i++) {
        if (symbols->at[i].begin == symbols->at[i - 1].begin)
            return "a module has two globals of one name";
        if (all[i].begin <= all[i - 1].last)
            return "two globals share memory";
    }
    for (uint32_t i = 0, at = 0; i < reader->global_count; i++) {
        while (at < checker->allocations.count && allocated[at].last < all[i].begin)
            at++;
        if (at < checker->allocations.count && allocated[at].begin <= all[i].last)
            return "a global and an allocation share memory";
    }
    return NULL;
}

int nb_check_memory(struct nb_checker *checker)
{
    const struct nb_reader *reader = checker->reader;
    struct nb_ranges symbols;
    if (!make(checker->file, &checker->allocations, reader->allocation_count) ||
        !make(checker->file, &checker->pages, reader->allocation_count) ||
        !make(checker->file, &checker->globals, reader->global_count) ||
        !make(checker->file, &symbols, reader->global_count))
        return nb_error(checker->error, NB_REPLAY_CANNOT, "no memory for %u allocations",
                        reader->allocation_count);
    for (uint32_t i = 0; i < reader->allocation_count; i++) {
        const uint64_t begin = reader->allocations[i].address;
        const uint64_t last = begin + (reader->allocations[i].bytes - 1);
        const uint64_t in_page = NB_CAPTURE_PAGE - 1;
        checker->allocations.at[i] = (struct nb_address_range){begin, last};
        checker->pages.at[i] = (struct nb_address_range){begin & ~in_page, last | in_page};
    }
    for (uint32_t i = 0; i < reader->global_count; i++) {
        const uint64_t begin = reader->globals[i].address;
        checker->globals.at[i] = (struct nb_address_range){begin, begin + (reader->globals[i].bytes - 1)};
    }
    sort(&checker->allocations);
    sort(&checker->pages);
    sort(&checker->globals);
    join(&checker->allocations);
    join(&checker->pages);
    /* A region that unloads a module is refused; the next module may lie where the unloaded one lay. */
    const char *why = nb_reader_is_refused(reader) ? NULL : check_names(checker, &symbols);
    if (why != NULL)
        return nb_error(checker->error, NB_REPLAY_BAD_CAPTURE, "%s", why);
    reach(&checker->globals);
    return check_amount(checker);
}

/* Remembers a run's last byte instead of its end, because memory may extend to the highest address. */
static const char *check_run(struct nb_checker *checker, const struct nb_capture_run *run, bool is_first,
                             bool may_be_empty)
{
    if (run->address % NB_CAPTURE_PAGE != 0 || run->bytes == 0 || run->bytes > NB_BLOB_MAX)
        return "it does not begin at a page, is empty, or is larger than a blob";
    if (!is_first && run->address <= checker->run_end)
        return "it overlaps the previous run, or is out of order";
    if (!holds(&checker->pages, run->address, run->bytes))
        return "it is outside every allocation";
    if (run->content.bytes != run->bytes && (run->content.bytes != 0 || !may_be_empty))
        return "a content of another size";
    checker->run_end = run->address + (run->bytes - 1);
    return nb_file_check_content(checker->file, run->content);
}

static const char *check_before(struct nb_checker *checker, uint32_t index)
{
    return check_run(checker, &checker->reader->before[index], index == 0, false);
}

static const char *check_after(struct nb_checker *checker, uint32_t index)
{
    return check_run(checker, &checker->reader->after[index], index == 0, true);
}

int nb_check_runs(struct nb_checker *checker)
{
    const int status = nb_check_each(checker, "before", checker->reader->before_count, check_before);
    return status != NB_REPLAY_OK
               ? status
               : nb_check_each(checker, "after", checker->reader->after_count, check_after);
}
