/* A kernel may mark the lines that it reads with L2::evict_last. A flush evicts normal lines first, so marked
 * lines can outlive it, and restoring writes the next sample's inputs into them: the sample would find inputs
 * that it never read in the cache. PTX has one instruction that takes the mark away: applypriority. */
#include "replay/sample/priority.h"

#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/memory.h"

/* kernels.S */
extern const char nb_kernels_policy[] __attribute__((visibility("hidden")));

enum {
    POLICY_MAJOR = 8, /* the first compute capability with cache policies */
    LINE_BYTES = 128,
    THREADS = 256,
    BLOCKS_EACH = 8,
    GLOBAL_BYTES_MIN = 4096 /* each global is a launch; smaller globals gain nothing from the cache */
};

int nb_priority_build(struct nb_replay *replay)
{
    struct nb_priority *priority = &replay->priority;
    if (replay->driver.nb_module_load_source != NULL || replay->facts.compute_major < POLICY_MAJOR)
        return NB_REPLAY_OK;
    NB_TRY(NB_CALL(replay, cuModuleLoadDataEx, &priority->module, nb_kernels_policy, 0, NULL, NULL));
    return NB_CALL(replay, cuModuleGetFunction, &priority->demote, priority->module, "nb_demote");
}

/* Whole lines: memory is allocated in multiples of a line, and a global shares its last line with others. */
static int demote(struct nb_replay *replay, CUdeviceptr address, uint64_t bytes)
{
    CUdeviceptr from = address & ~(CUdeviceptr)(LINE_BYTES - 1);
    uint64_t lines = (address + bytes - from + LINE_BYTES - 1) / LINE_BYTES;
    void *parameters[] = {&from, &lines};
    const CUlaunchConfig config = {
        .gridDimX = replay->facts.multiprocessors * BLOCKS_EACH,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = THREADS,
        .blockDimY = 1,
        .blockDimZ = 1,
        .hStream = replay->streams.timed,
    };
    return NB_CALL(replay, cuLaunchKernelEx, &config, replay->priority.demote, parameters, NULL);
}

static int demote_globals(struct nb_replay *replay, const struct nb_code_global *globals, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (globals[i].bytes >= GLOBAL_BYTES_MIN)
            NB_TRY(demote(replay, globals[i].address, globals[i].bytes));
    return NB_REPLAY_OK;
}

int nb_priority_reset(struct nb_replay *replay)
{
    const struct nb_memory *memory = &replay->memory;
    if (replay->priority.module == NULL)
        return NB_REPLAY_OK;
    for (uint32_t i = 0; i < memory->range_count; i++)
        NB_TRY(demote(replay, memory->ranges[i].address, memory->ranges[i].bytes));
    for (uint32_t i = 0; i < replay->code.copy_count; i++) {
        const struct nb_code_copy *copy = &replay->code.copies[i];
        NB_TRY(demote_globals(replay, copy->globals, replay->reader.global_count));
        NB_TRY(demote_globals(replay, copy->unlisted, copy->unlisted_count));
    }
    return NB_REPLAY_OK;
}

void nb_priority_close(struct nb_replay *replay)
{
    if (replay->gone == NB_REPLAY_OK && replay->context != NULL && replay->priority.module != NULL)
        replay->driver.cuModuleUnload(replay->priority.module);
}
