#include "cuda/capture/memory.h"

#include <string.h>

#include "core/arena/arena.h"
#include "core/base/vector.h"
#include "core/driver/slots.h"
#include "core/region/raw_capture.h"
#include "core/region/region.h"
#include "cuda/capture/pages.h"
#include "cuda/memory/arena.h"
#include "real.h"
#include "surface.h"

/* Memory is read in pieces of this size. One piece is read while the pages of the other are looked at. */
#define PIECE_BYTES (16u << 20)

/* Whether the open region will compare its pages at its end. */
static bool compares_pages;

/* Pages to read, in one mapping. */
struct stretch {
    uint64_t begin_read, end;
};

/* Stretches collected by nb_arena_each. */
struct collection {
    struct nb_vector stretches;
    bool is_complete; /* memory sufficed for all stretches */
};

/* A small block may share a page with the block before it: read both together. No stretch spans the
 * mappings of two granules. Blocks whose content is given to a replay are not read. */
static void collect_stretch(const struct nb_arena_block *block, void *context)
{
    struct collection *all = context;
    if (nb_region_is_given(block->address, block->bytes))
        return;
    struct nb_vector *stretches = &all->stretches;
    uint64_t begin_read = block->address / NB_CAPTURE_PAGE * NB_CAPTURE_PAGE;
    const uint64_t end =
        (block->address + block->bytes + NB_CAPTURE_PAGE - 1) / NB_CAPTURE_PAGE * NB_CAPTURE_PAGE;
    struct stretch *last = stretches->count != 0 ? nb_vector_item(stretches, stretches->count - 1) : NULL;
    if (last != NULL && begin_read <= last->end &&
        begin_read / NB_ARENA_GRANULE == (last->end - 1) / NB_ARENA_GRANULE) {
        last->end = end > last->end ? end : last->end;
        return;
    }
    const struct stretch stretch = {begin_read, end};
    all->is_complete &= nb_vector_append(stretches, &stretch);
}

/* A program may map memory without access to it. */
static bool is_readable(uint64_t address)
{
    struct nb_arena_block block;
    CUdevice device;
    unsigned long long access = 0;
    if (!nb_arena_find(address, &block) || block.kind != NB_ARENA_MAPPING)
        return true;
    if (!nb_memory_is_served(&device))
        return false;
    const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
    return NB_REAL(cuMemGetAccess)(&access, &here, address) == CUDA_SUCCESS && access != 0;
}

enum page_kind {
    PAGE_LEFT_OUT, /* zero at the region's start, or as it was then at its end */
    PAGE_UNIFORM,  /* one word again and again: zeros, or a value that a program fills memory with */
    PAGE_PLAIN
};

static bool is_uniform(const unsigned char *page, uint64_t *word)
{
    uint64_t words[NB_CAPTURE_PAGE / 8], differences = 0;
    memcpy(words, page, sizeof words);
    for (size_t i = 0; i < NB_CAPTURE_PAGE / 8; i++)
        differences |= words[i] ^ words[0];
    *word = words[0];
    return differences == 0;
}

static enum page_kind kind_of_page(enum nb_capture_kind kind, uint64_t address, const unsigned char *page,
                                   uint64_t *word)
{
    const bool uniform = is_uniform(page, word);
    if (kind == NB_CAPTURE_BEFORE && compares_pages)
        nb_pages_remember(address, page);
    else if (kind == NB_CAPTURE_AFTER && nb_pages_is_as_before(address, page))
        return PAGE_LEFT_OUT;
    if (!uniform)
        return PAGE_PLAIN;
    return kind == NB_CAPTURE_BEFORE && *word == 0 ? PAGE_LEFT_OUT : PAGE_UNIFORM;
}

/* `content`: bytes to store. One page stands for a run whose pages are equal, and none for zeros. */
static void append_run(enum nb_capture_kind kind, uint64_t address, const unsigned char *bytes, size_t count,
                       size_t content)
{
    const struct nb_capture_run run = {
        .address = address, .bytes = count, .content = {.first = sizeof run, .bytes = content}};
    const struct nb_piece pieces[] = {{&run, sizeof run}, {bytes, content}};
    nb_raw_capture_append(kind, pieces, 2);
}

static void append_pages(enum nb_capture_kind kind, uint64_t address, const unsigned char *bytes,
                         size_t count)
{
    enum page_kind current = PAGE_LEFT_OUT;
    uint64_t current_word = 0;
    size_t begin = 0;
    for (size_t at = 0; at <= count; at += NB_CAPTURE_PAGE) {
        uint64_t word = 0;
        const bool is_end = at == count;
        const enum page_kind page =
            is_end ? PAGE_LEFT_OUT : kind_of_page(kind, address + at, bytes + at, &word);
        const bool is_same = page == current && (page != PAGE_UNIFORM || word == current_word);
        if (is_same && !is_end && at - begin < NB_BLOB_MAX)
            continue;
        if (current == PAGE_PLAIN)
            append_run(kind, address + begin, bytes + begin, at - begin, at - begin);
        else if (current == PAGE_UNIFORM)
            append_run(kind, address + begin, bytes + begin, at - begin,
                       current_word == 0 ? 0 : NB_CAPTURE_PAGE);
        begin = at;
        current = page;
        current_word = word;
    }
}

/* One of two pieces that are read in turn. */
struct piece {
    CUstream stream;
    void *bytes;
    uint64_t address;
    size_t count; /* 0: no read is queued */
};

static CUresult open_piece(struct piece *piece)
{
    CUresult result = NB_REAL(cuMemHostAlloc)(&piece->bytes, PIECE_BYTES, 0);
    if (result == CUDA_SUCCESS)
        result = NB_REAL(cuStreamCreate)(&piece->stream, CU_STREAM_NON_BLOCKING);
    return result;
}

static void close_piece(struct piece *piece)
{
    if (piece->stream != NULL)
        NB_REAL(cuStreamDestroy_v2)(piece->stream);
    if (piece->bytes != NULL)
        NB_REAL(cuMemFreeHost)(piece->bytes);
}

static CUresult begin_read(struct piece *piece, uint64_t address, size_t count)
{
    piece->address = address;
    piece->count = count;
    return NB_REAL(cuMemcpyDtoHAsync_v2)(piece->bytes, address, count, piece->stream);
}

static CUresult finish_read(struct piece *piece, enum nb_capture_kind kind)
{
    if (piece->count == 0)
        return CUDA_SUCCESS;
    const CUresult result = NB_REAL(cuStreamSynchronize)(piece->stream);
    if (result == CUDA_SUCCESS)
        append_pages(kind, piece->address, piece->bytes, piece->count);
    piece->count = 0;
    return result;
}

static CUresult read_all(const struct nb_vector *all, enum nb_capture_kind kind, struct piece pieces[2])
{
    CUresult result = CUDA_SUCCESS;
    unsigned turn = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct stretch *stretch = nb_vector_item(all, i);
        if (!is_readable(stretch->begin_read))
            continue;
        for (uint64_t at = stretch->begin_read; result == CUDA_SUCCESS && at < stretch->end;
             at += PIECE_BYTES) {
            const uint64_t remaining = stretch->end - at;
            result = finish_read(&pieces[turn], kind);
            if (result == CUDA_SUCCESS)
                result =
                    begin_read(&pieces[turn], at, remaining < PIECE_BYTES ? (size_t)remaining : PIECE_BYTES);
            turn = 1 - turn;
        }
    }
    for (unsigned i = 0; i < 2; i++, turn = 1 - turn)
        if (result == CUDA_SUCCESS)
            result = finish_read(&pieces[turn], kind);
    return result;
}

static CUresult write_memory(enum nb_capture_kind kind)
{
    struct collection all = {NB_VECTOR_INITIALIZER(struct stretch), true};
    struct piece pieces[2] = {0};
    CUresult result = CUDA_SUCCESS;
    nb_arena_each(collect_stretch, &all);
    if (!all.is_complete)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < 2 && result == CUDA_SUCCESS && all.stretches.count != 0; i++)
        result = open_piece(&pieces[i]);
    if (result == CUDA_SUCCESS)
        result = read_all(&all.stretches, kind, pieces);
    for (unsigned i = 0; i < 2; i++)
        close_piece(&pieces[i]);
    nb_vector_free(&all.stretches);
    return result;
}

CUresult nb_capture_write_memory_before(bool stores_after)
{
    nb_pages_forget();
    compares_pages = stores_after;
    return write_memory(NB_CAPTURE_BEFORE);
}

CUresult nb_capture_write_memory_after(void)
{
    const CUresult result = write_memory(NB_CAPTURE_AFTER);
    nb_pages_forget();
    return result;
}
