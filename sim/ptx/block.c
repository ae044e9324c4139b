/* Run a block: its memory, its warps in turn, its barriers. */
#include <stdlib.h>

#include "ptx/engine.h"
#include "ptx/texel.h"

/* Per-lane stack sizes of a kernel that calls functions. Untouched pages use no memory. */
enum { CALL_FRAME_ROOM = 1 << 15, CALL_LOCAL_ROOM = 1 << 18 };

void ptx_free_block(struct block *block)
{
    if (block == NULL)
        return;
    for (uint32_t i = 0; block->warps != NULL && i < block->warp_count; i++) {
        free(block->warps[i].registers);
        free(block->warps[i].predicates);
        free(block->warps[i].frames);
        free(block->warps[i].locals);
        free(block->warps[i].callers);
    }
    free(block->warps);
    free(block->shared);
    free(block->images);
    free(block);
}

static bool make_warp(struct warp *warp, struct block *block, uint32_t number)
{
    const struct grid *grid = block->grid;
    const struct ptx_kernel *kernel = grid->launch->kernel;
    warp->block = block;
    warp->number = number;
    warp->constants = grid->module->constants;
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t index[3];
        ptx_thread_index(warp, lane, index);
        for (unsigned i = 0; i < 3; i++)
            warp->thread_index[i][lane] = index[i];
    }
    warp->register_room = kernel->registers + 1;
    warp->predicate_room = kernel->predicates + 1;
    warp->frame_room = ((kernel->frame_bytes + 15) & ~15u) + (kernel->calls ? CALL_FRAME_ROOM : 0);
    warp->local_room = ((kernel->local_bytes + 15) & ~15u) + (kernel->calls ? CALL_LOCAL_ROOM : 0);
    warp->registers = calloc(warp->register_room * LANES, sizeof *warp->registers);
    warp->predicates = calloc(warp->predicate_room, sizeof *warp->predicates);
    warp->frames = calloc((size_t)warp->frame_room * LANES + 1, 1);
    warp->locals = calloc((size_t)warp->local_room * LANES + 1, 1);
    return warp->registers != NULL && warp->predicates != NULL && warp->frames != NULL &&
           warp->locals != NULL;
}

struct block *ptx_make_block(const struct grid *grid)
{
    struct block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return NULL;
    const struct ptx_launch *launch = grid->launch;
    const uint32_t fixed = grid->module->common_shared_bytes + launch->kernel->shared_bytes;
    block->grid = grid;
    block->threads = launch->block[0] * launch->block[1] * launch->block[2];
    block->warp_count = (block->threads + LANES - 1) / LANES;
    block->dynamic_offset = (fixed + 127) & ~127u;
    block->shared_bytes = launch->shared_bytes != 0 ? block->dynamic_offset + launch->shared_bytes : fixed;
    if (grid->module->uses_reserved)
        block->shared_bytes = ((block->shared_bytes + 15) & ~15u) + RESERVED_SHARED;
    block->warps = calloc(block->warp_count, sizeof *block->warps);
    block->shared = aligned_alloc(128, (block->shared_bytes + 128u) & ~127u);
    if (grid->module->access_count != 0)
        block->images = calloc(IMAGES_KEPT, sizeof *block->images);
    bool good = block->warps != NULL && block->shared != NULL &&
                (block->images != NULL || grid->module->access_count == 0);
    for (uint32_t i = 0; good && i < block->warp_count; i++)
        good = make_warp(&block->warps[i], block, i);
    if (good)
        return block;
    ptx_free_block(block);
    return NULL;
}

void ptx_start_block(struct block *block, uint64_t number)
{
    const struct ptx_launch *launch = block->grid->launch;
    block->index[0] = (uint32_t)(number % launch->grid[0]);
    block->index[1] = (uint32_t)(number / launch->grid[0] % launch->grid[1]);
    block->index[2] = (uint32_t)(number / launch->grid[0] / launch->grid[1]);
    memset(block->shared, 0, block->shared_bytes);
    memset(block->barriers, 0, sizeof block->barriers);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *warp = &block->warps[i];
        const uint32_t threads = block->threads - i * LANES;
        warp->live = threads >= LANES ? ALL_LANES : (1u << threads) - 1;
        warp->carry = 0;
        warp->diverged = 0;
        memset(warp->ranges, 0, sizeof warp->ranges);
        memset(warp->last_error, 0, sizeof warp->last_error);
        warp->group_count = 1;
        warp->groups[0] = (struct group){.mask = warp->live, .pc = launch->kernel->begin};
    }
}

static uint32_t live_threads(const struct block *block)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < block->warp_count; i++)
        live += (uint32_t)__builtin_popcount(block->warps[i].live);
    return live;
}

/* bar.red: writes the same result to all threads that waited. */
static void answer(struct warp *warp, const struct group *group, const struct barrier *barrier)
{
    const struct instruction *instruction = &warp->block->grid->module->code[group->pc];
    if ((instruction->flags & FLAG_REDUCE) == 0)
        return;
    warp->frame_registers = warp->registers + (size_t)group->registers * LANES;
    warp->frame_predicates = warp->predicates + group->predicates;
    if (instruction->variant == 0) { /* popc */
        uint64_t *d = result_values(warp, instruction->to[0]);
        EACH_LANE(group->mask, lane, d[lane] = barrier->true_count);
        return;
    }
    const bool yes =
        instruction->variant == 1 ? barrier->true_count == barrier->voters : barrier->true_count != 0;
    set_predicate(warp, instruction->to[0], group->mask, yes ? ALL_LANES : 0);
}

static void release(struct block *block, uint32_t number)
{
    struct barrier *barrier = &block->barriers[number];
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *warp = &block->warps[i];
        for (uint32_t j = 0; j < warp->group_count; j++) {
            struct group *group = &warp->groups[j];
            if (group->state != GROUP_AT_BARRIER || group->barrier != number)
                continue;
            answer(warp, group, barrier);
            group->state = GROUP_RUNS;
            group->pc++;
        }
    }
    *barrier = (struct barrier){0};
}

/* Opens complete barriers and returns whether it opened any. `waiting`: a lane has not ended. */
static bool open_barriers(struct block *block, bool *waiting)
{
    bool opened = false;
    const uint32_t live = live_threads(block);
    *waiting = false;
    for (uint32_t i = 0; i < block->warp_count; i++)
        *waiting = *waiting || block->warps[i].group_count != 0;
    for (uint32_t i = 0; i < BARRIERS; i++) {
        const struct barrier *barrier = &block->barriers[i];
        const uint32_t expected = barrier->expected != 0 ? barrier->expected : live;
        if (barrier->arrived != 0 && barrier->arrived >= expected) {
            release(block, i);
            opened = true;
        }
    }
    return opened;
}

/* Runs the warps in turns: a warp that spins on a value must not starve the warp that writes it. */
enum ptx_status ptx_run_block(struct block *block, bool *ended, bool *worked)
{
    bool waiting, yielded = false;
    const struct instruction *code = block->grid->module->code;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        if (block->warps[i].group_count == 0)
            continue;
        const enum ptx_status status = ptx_run_warp(&block->warps[i], &yielded, worked);
        if (status != PTX_OK)
            return status;
    }
    const bool opened = open_barriers(block, &waiting);
    *ended = !waiting;
    *worked |= opened || *ended;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *warp = &block->warps[i];
        if (warp->group_count == 0)
            continue;
        const struct instruction *at = &code[warp->groups[0].pc];
        return opened || yielded
                   ? ptx_poll_grid(warp, at)
                   : ptx_fault(warp, at, PTX_DEADLOCK, "deadlock at a barrier", warp->groups[0].barrier);
    }
    return PTX_OK;
}
