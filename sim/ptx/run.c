/* Grids: blocks over host threads, warps in turn within a block, barriers between them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "diagnostic.h"
#include "engine.h"

/* Stacks of a lane whose kernel calls functions. Pages that are never touched cost nothing. */
enum { CALL_FRAME_ROOM = 1 << 15, CALL_LOCAL_ROOM = 1 << 18, WORKERS_MAX = 256 };

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void free_block(struct block *block)
{
    for (uint32_t i = 0; block->warps != NULL && i < block->warp_count; i++) {
        free(block->warps[i].registers);
        free(block->warps[i].predicates);
        free(block->warps[i].frames);
        free(block->warps[i].locals);
        free(block->warps[i].callers);
    }
    free(block->warps);
    free(block->shared);
}

static bool make_warp(struct warp *warp, struct block *block, uint32_t number)
{
    const struct grid *grid = block->grid;
    const struct ptx_kernel *kernel = grid->launch->kernel;
    warp->block = block;
    warp->number = number;
    warp->constants = grid->module->constants;
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

static bool make_block(struct block *block, const struct grid *grid)
{
    const struct ptx_launch *launch = grid->launch;
    const uint32_t fixed = grid->module->common_shared_bytes + launch->kernel->shared_bytes;
    *block = (struct block){.grid = grid, .threads = launch->block[0] * launch->block[1] * launch->block[2]};
    block->warp_count = (block->threads + LANES - 1) / LANES;
    block->dynamic_offset = (fixed + 127) & ~127u;
    block->shared_bytes = launch->shared_bytes != 0 ? block->dynamic_offset + launch->shared_bytes : fixed;
    block->warps = calloc(block->warp_count, sizeof *block->warps);
    block->shared = aligned_alloc(128, (block->shared_bytes + 128u) & ~127u);
    bool good = block->warps != NULL && block->shared != NULL;
    for (uint32_t i = 0; good && i < block->warp_count; i++)
        good = make_warp(&block->warps[i], block, i);
    return good;
}

static void start_block(struct block *block, uint64_t number)
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

/* bar.red: everybody who waited gets the same answer. */
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

/* Every warp has ended or waits. Open what is complete; false if nothing is and somebody waits for ever. */
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

static enum ptx_status run_block(struct block *block)
{
    for (;;) {
        for (uint32_t i = 0; i < block->warp_count; i++) {
            if (block->warps[i].group_count == 0)
                continue;
            const enum ptx_status status = run_warp(&block->warps[i]);
            if (status != PTX_OK)
                return status;
        }
        bool waiting;
        if (open_barriers(block, &waiting))
            continue;
        if (!waiting)
            return PTX_OK;
        for (uint32_t i = 0; i < block->warp_count; i++)
            if (block->warps[i].group_count != 0)
                return fault(&block->warps[i], &block->grid->module->code[block->warps[i].groups[0].pc],
                             PTX_DEADLOCK, "a barrier that never opens", block->warps[i].groups[0].barrier);
    }
}

static void forget_ranges(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++)
        memset(block->warps[i].ranges, 0, sizeof block->warps[i].ranges);
}

static void *work(void *context)
{
    struct grid *grid = context;
    struct block block;
    if (!make_block(&block, grid)) {
        int expected = PTX_OK;
        atomic_compare_exchange_strong(&grid->status, &expected, PTX_OUT_OF_RESOURCES);
        if (!atomic_exchange(&grid->diagnosed, true))
            diagnose(grid->diagnostic, 0, "no memory for a block of %u threads", block.threads);
    } else {
        forget_ranges(&block);
        for (uint64_t number = atomic_fetch_add(&grid->next_block, 1);
             number < grid->block_count && atomic_load(&grid->status) == PTX_OK;
             number = atomic_fetch_add(&grid->next_block, 1)) {
            start_block(&block, number);
            run_block(&block);
        }
    }
    free_block(&block);
    return NULL;
}

static unsigned worker_count(const struct ptx_launch *launch, uint64_t blocks)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t workers = launch->workers != 0 ? launch->workers : cores > 0 ? (uint64_t)cores : 1;
    workers = workers < blocks ? workers : blocks;
    return workers < WORKERS_MAX ? (unsigned)workers : WORKERS_MAX;
}

enum ptx_status ptx_run(const struct ptx_launch *launch, struct ptx_diagnostic *diagnostic)
{
    const uint32_t *size = launch->grid, *block = launch->block;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (size[0] == 0 || size[1] == 0 || size[2] == 0 || threads == 0 || threads > 1024) {
        diagnose(diagnostic, 0, "a grid of %ux%ux%u blocks of %llu threads", size[0], size[1], size[2],
                 (unsigned long long)threads);
        return PTX_OUT_OF_RESOURCES;
    }
    const size_t bytes = launch->kernel->parameter_bytes;
    unsigned char *parameters = calloc(1, bytes + 8);
    if (parameters == NULL)
        return PTX_OUT_OF_RESOURCES;
    if (bytes != 0)
        memcpy(parameters, launch->parameters, bytes);
    struct grid grid = {.launch = launch,
                        .module = launch->kernel->module,
                        .parameters = parameters,
                        .start_ns = now_ns(),
                        .block_count = (uint64_t)size[0] * size[1] * size[2],
                        .diagnostic = diagnostic};
    pthread_t helpers[WORKERS_MAX];
    unsigned started = 0;
    for (unsigned wanted = worker_count(launch, grid.block_count) - 1; started < wanted; started++)
        if (pthread_create(&helpers[started], NULL, work, &grid) != 0)
            break; /* fewer helpers: slower, not wrong */
    work(&grid);
    for (unsigned i = 0; i < started; i++)
        pthread_join(helpers[i], NULL);
    free(parameters);
    return (enum ptx_status)atomic_load(&grid.status);
}
