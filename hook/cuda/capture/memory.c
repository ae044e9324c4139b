#include "cuda/capture/memory.h"

#include <string.h>

#include "core/arena/arena.h"
#include "core/base/vector.h"
#include "core/driver/slots.h"
#include "core/region/recording.h"
#include "cuda/memory/arena.h"
#include "real.h"
#include "surface.h"

/* Read in pieces of this size, one while the other is searched for pages that are not zero. */
#define PIECE_BYTES (16u << 20)

/* Pages to be read, which are mapped as one. */
struct stretch {
    uint64_t begin, end;
};

/* The stretches, as nb_arena_each collects them. */
struct collection {
    struct nb_vector stretches;
    bool is_complete; /* there was memory for all */
};

/* Small blocks may share a page with the one before them, and are read together if they do. No stretch goes
 * from one granule's mapping to another's. */
static void collect(const struct nb_arena_block *block, void *context)
{
    struct collection *all = context;
    struct nb_vector *stretches = &all->stretches;
    uint64_t begin = block->address / NB_CAPTURE_PAGE * NB_CAPTURE_PAGE;
    const uint64_t end =
        (block->address + block->bytes + NB_CAPTURE_PAGE - 1) / NB_CAPTURE_PAGE * NB_CAPTURE_PAGE;
    struct stretch *last = stretches->count != 0 ? nb_vector_item(stretches, stretches->count - 1) : NULL;
    if (last != NULL && begin <= last->end &&
        begin / NB_ARENA_GRANULE == (last->end - 1) / NB_ARENA_GRANULE) {
        last->end = end > last->end ? end : last->end;
        return;
    }
    const struct stretch stretch = {begin, end};
    all->is_complete &= nb_vector_append(stretches, &stretch);
}

/* A program may map memory and give nobody access to it. */
static bool is_readable(uint64_t address)
{
    struct nb_arena_block block;
    CUdevice device;
    unsigned long long access = 0;
    if (!nb_arena_find(address, &block) || block.kind != NB_ARENA_MAPPING)
        return true;
    if (!nb_memory_serves(&device))
        return false;
    const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
    return NB_REAL(cuMemGetAccess)(&access, &here, address) == CUDA_SUCCESS && access != 0;
}

static bool is_zero(const unsigned char *page)
{
    uint64_t words[NB_CAPTURE_PAGE / 8], any = 0;
    memcpy(words, page, sizeof words);
    for (size_t i = 0; i < NB_CAPTURE_PAGE / 8; i++)
        any |= words[i];
    return any == 0;
}

static void append_run(enum nb_capture_kind kind, uint64_t address, const unsigned char *bytes, size_t count)
{
    const struct nb_capture_run run = {
        .address = address, .bytes = count, .content = {.first = sizeof run, .bytes = count}};
    const struct nb_piece pieces[] = {{&run, sizeof run}, {bytes, count}};
    nb_recording_append(kind, pieces, 2);
}

static void append_pages(enum nb_capture_kind kind, uint64_t address, const unsigned char *bytes,
                         size_t count)
{
    size_t begin = 0;
    while (begin < count) {
        size_t end = begin;
        while (end < count && end - begin < NB_BLOB_MAX && !is_zero(bytes + end))
            end += NB_CAPTURE_PAGE;
        if (end > begin)
            append_run(kind, address + begin, bytes + begin, end - begin);
        begin = end > begin ? end : begin + NB_CAPTURE_PAGE;
    }
}

/* One of the two pieces that are under way. */
struct piece {
    CUstream stream;
    void *bytes;
    uint64_t address;
    size_t count; /* 0: nothing is under way */
};

static CUresult make(struct piece *piece)
{
    CUresult result = NB_REAL(cuMemHostAlloc)(&piece->bytes, PIECE_BYTES, 0);
    if (result == CUDA_SUCCESS)
        result = NB_REAL(cuStreamCreate)(&piece->stream, CU_STREAM_NON_BLOCKING);
    return result;
}

static void unmake(struct piece *piece)
{
    if (piece->stream != NULL)
        NB_REAL(cuStreamDestroy_v2)(piece->stream);
    if (piece->bytes != NULL)
        NB_REAL(cuMemFreeHost)(piece->bytes);
}

static CUresult begin(struct piece *piece, uint64_t address, size_t count)
{
    piece->address = address;
    piece->count = count;
    return NB_REAL(cuMemcpyDtoHAsync_v2)(piece->bytes, address, count, piece->stream);
}

static CUresult finish(struct piece *piece, enum nb_capture_kind kind)
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
        if (!is_readable(stretch->begin))
            continue;
        for (uint64_t at = stretch->begin; result == CUDA_SUCCESS && at < stretch->end; at += PIECE_BYTES) {
            const uint64_t left = stretch->end - at;
            result = finish(&pieces[turn], kind);
            if (result == CUDA_SUCCESS)
                result = begin(&pieces[turn], at, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES);
            turn = 1 - turn;
        }
    }
    for (unsigned i = 0; i < 2; i++, turn = 1 - turn)
        if (result == CUDA_SUCCESS)
            result = finish(&pieces[turn], kind);
    return result;
}

CUresult nb_capture_memory(enum nb_capture_kind kind)
{
    struct collection all = {NB_VECTOR_INITIALIZER(struct stretch), true};
    struct piece pieces[2] = {0};
    CUresult result = CUDA_SUCCESS;
    nb_arena_each(collect, &all);
    if (!all.is_complete)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < 2 && result == CUDA_SUCCESS && all.stretches.count != 0; i++)
        result = make(&pieces[i]);
    if (result == CUDA_SUCCESS)
        result = read_all(&all.stretches, kind, pieces);
    for (unsigned i = 0; i < 2; i++)
        unmake(&pieces[i]);
    nb_vector_free(&all.stretches);
    return result;
}
