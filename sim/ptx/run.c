/* Run grids: distribute blocks over host threads. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ptx/device_launch.h"
#include "ptx/diagnostic.h"
#include "ptx/engine.h"

/* Limits of a worker. A block may spin on a block that has not started: programs expect that blocks which fit
 * a GPU run at the same time. So after PATIENCE rounds without an end, a worker starts one more block, up to
 * RESIDENT_MAX; a round in which all blocks only waited counts as IDLE rounds. */
enum { WORKERS_MAX = 256, RESIDENT_MAX = 64, PATIENCE = 64, IDLE = 16, COOPERATIVE_MAX = 1 << 16 };

/* A worker polls the grid when it has started this number of blocks: blocks that end within their first turn
 * do not poll. */
enum { BLOCKS_A_POLL = 256 };

uint64_t ptx_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct worker {
    struct grid *grid;
    struct block **blocks; /* `made` blocks; the first `running` of them run */
    uint32_t made, running, room;
    uint32_t until_poll; /* blocks to start */
};

static void fail_for_memory(struct grid *grid)
{
    const uint32_t *size = grid->launch->block;
    int expected = PTX_OK;
    atomic_compare_exchange_strong(&grid->status, &expected, PTX_OUT_OF_RESOURCES);
    if (!atomic_exchange(&grid->diagnosed, true))
        diagnose(grid->diagnostic, 0, "no memory for a block of %ux%ux%u threads", size[0], size[1], size[2]);
}

/* Starts the next block of the grid; false if no block is left, or the worker is full. */
static bool begin_block(struct worker *worker)
{
    struct grid *grid = worker->grid;
    if (worker->running == worker->room)
        return false;
    const uint64_t number = atomic_fetch_add(&grid->next_block, 1);
    if (number >= grid->block_count)
        return false;
    if (worker->running == worker->made) {
        struct block *block = ptx_make_block(grid);
        if (block == NULL) {
            fail_for_memory(grid);
            return false;
        }
        worker->blocks[worker->made++] = block;
    }
    struct block *block = worker->blocks[worker->running++];
    ptx_start_block(block, number);
    if (worker->until_poll-- == 0) {
        worker->until_poll = BLOCKS_A_POLL;
        (void)ptx_poll_grid(&block->warps[0], &grid->module->code[grid->launch->kernel->begin]);
    }
    return true;
}

/* Gives each block a turn; false after a fault. `worked`: a block did more than wait. */
static bool run_round(struct worker *worker, bool *worked)
{
    for (uint32_t i = 0; i < worker->running;) {
        struct block *block = worker->blocks[i];
        bool ended = false;
        if (ptx_run_block(block, &ended, worked) != PTX_OK)
            return false;
        if (ended) {
            worker->blocks[i] = worker->blocks[--worker->running];
            worker->blocks[worker->running] = block;
        } else {
            i++;
        }
    }
    return true;
}

static void run_blocks(struct worker *worker)
{
    struct grid *grid = worker->grid;
    const uint32_t patience = grid->launch->cooperative ? 1 : PATIENCE;
    while ((begin_block(worker) || worker->running != 0) && atomic_load(&grid->status) == PTX_OK) {
        const uint32_t running = worker->running;
        for (uint32_t round = 0; round < patience && worker->running == running;) {
            bool worked = false;
            if (!run_round(worker, &worked))
                return;
            if (!worked)
                (void)sched_yield(); /* they wait for blocks of another worker, or for the host */
            round += worked ? 1 : IDLE;
        }
    }
}

static void *work(void *context)
{
    struct grid *grid = context;
    const uint64_t most = grid->launch->cooperative ? grid->block_count : RESIDENT_MAX;
    struct worker worker = {.grid = grid, .room = (uint32_t)most, .until_poll = BLOCKS_A_POLL};
    worker.blocks = calloc(worker.room, sizeof *worker.blocks);
    if (worker.blocks == NULL)
        fail_for_memory(grid);
    else
        run_blocks(&worker);
    for (uint32_t i = 0; i < worker.made; i++)
        ptx_free_block(worker.blocks[i]);
    free(worker.blocks);
    return NULL;
}

static unsigned worker_count(const struct ptx_launch *launch, uint64_t blocks)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t workers = launch->workers != 0 ? launch->workers : cores > 0 ? (uint64_t)cores : 1;
    workers = workers < blocks ? workers : blocks;
    return workers < WORKERS_MAX ? (unsigned)workers : WORKERS_MAX;
}

/* Runs a grid to its end, without what it launches. */
static enum ptx_status run_grid(const struct ptx_launch *launch, struct launches *launches, uint64_t start_ns,
                                struct ptx_diagnostic *diagnostic)
{
    const uint32_t *size = launch->grid, *block = launch->block;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (size[0] == 0 || size[1] == 0 || size[2] == 0 || threads == 0 || threads > 1024) {
        diagnose(diagnostic, 0, "the grid of %ux%ux%u blocks of %llu threads exceeds the limits", size[0],
                 size[1], size[2], (unsigned long long)threads);
        return PTX_OUT_OF_RESOURCES;
    }
    const uint64_t blocks = (uint64_t)size[0] * size[1] * size[2];
    if (launch->cooperative && blocks > COOPERATIVE_MAX) {
        diagnose(diagnostic, 0, "the cooperative grid of %llu blocks is too large",
                 (unsigned long long)blocks);
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
                        .workspace = {sizeof grid.workspace},
                        .start_ns = start_ns,
                        .block_count = blocks,
                        .diagnostic = diagnostic,
                        .launches = launches};
    pthread_t helpers[WORKERS_MAX];
    unsigned started = 0;
    for (unsigned wanted = worker_count(launch, grid.block_count) - 1; started < wanted; started++)
        if (pthread_create(&helpers[started], NULL, work, &grid) != 0)
            break; /* continue with fewer threads */
    work(&grid);
    for (unsigned i = 0; i < started; i++)
        pthread_join(helpers[i], NULL);
    free(parameters);
    return (enum ptx_status)atomic_load(&grid.status);
}

/* Whether the launch is cancelled or has exceeded its time. Grids of few blocks do not ask for it themselves.
 */
static enum ptx_status poll(const struct ptx_launch *launch, uint64_t start_ns,
                            struct ptx_diagnostic *diagnostic)
{
    if (launch->cancel != NULL && atomic_load(launch->cancel))
        return PTX_CANCELLED;
    if (launch->timeout_ns == 0 || ptx_now_ns() - start_ns <= launch->timeout_ns)
        return PTX_OK;
    diagnose(diagnostic, 0, "the kernel and those that it launched exceeded their time limit");
    return PTX_TIMEOUT;
}

/* A grid ends when all that it launched has ended. So its launches run before everything else that waits, and
 * a list of waiting launches replaces a recursion: tail launches may go on without an end. */
enum ptx_status ptx_run(const struct ptx_launch *launch, struct ptx_diagnostic *diagnostic)
{
    struct launches launches = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const uint64_t start_ns = ptx_now_ns();
    enum ptx_status status = run_grid(launch, &launches, start_ns, diagnostic);
    struct child *waiting = ptx_take_launches(&launches);
    while (waiting != NULL) {
        struct child *child = waiting;
        waiting = child->next;
        if (status == PTX_OK)
            status = poll(launch, start_ns, diagnostic);
        if (status == PTX_OK) {
            launches.depth = child->depth;
            status = child->launch.kernel == NULL ? ptx_run_copy(child, diagnostic)
                                                  : run_grid(&child->launch, &launches, start_ns, diagnostic);
            struct child *own = ptx_take_launches(&launches), **end = &own;
            while (*end != NULL)
                end = &(*end)->next;
            *end = waiting;
            waiting = own;
        }
        free(child);
    }
    return status;
}
