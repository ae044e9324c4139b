#include "replay/sample/utility.h"

#include <sched.h>
#include <string.h>

#include "replay/base/engine.h"

/* kernels.S */
extern const char nb_kernels[] __attribute__((visibility("hidden")));
extern const char nb_kernels_hip[] __attribute__((visibility("hidden")));

enum {
    READ_THREADS = 256,
    READ_BLOCKS_EACH = 8,
    NOISE_WORDS_EACH = 4 * READ_THREADS, /* of a block */
    FILL_THREADS = 1024,
    SINK_BYTES = 256,
    FLUSH_THREADS = 64,
    FLUSH_BLOCKS_EACH = 60 /* enough for every compute unit to run one, however they are scheduled */
};

static int launch_on(struct nb_replay *replay, CUstream stream, CUfunction function, unsigned grid,
                     unsigned block, unsigned shared_bytes, void **parameters)
{
    const CUlaunchConfig config = {
        .gridDimX = grid,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = block,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = shared_bytes,
        .hStream = stream,
    };
    return NB_CALL(replay, cuLaunchKernelEx, &config, function, parameters, NULL);
}

static int launch(struct nb_replay *replay, CUfunction function, unsigned grid, unsigned block,
                  unsigned shared_bytes, void **parameters)
{
    return launch_on(replay, replay->streams.timed, function, grid, block, shared_bytes, parameters);
}

static int load_source(struct nb_replay *replay)
{
    char log[NB_REPLAY_TEXT / 2] = "";
    const CUresult result = replay->driver.nb_module_load_source(&replay->utility.module, nb_kernels_hip,
                                                                 nb_kernels, log, sizeof log);
    if (result == CUDA_SUCCESS)
        return NB_REPLAY_OK;
    log[strcspn(log, "\r\n")] = '\0';
    return nb_fail(replay, NB_REPLAY_CANNOT, "the engine's kernels cannot be compiled by hiprtc: %s (%d)%s%s",
                   nb_driver_name(&replay->driver, result), (int)result, log[0] != '\0' ? ": " : "", log);
}

/* PTX runs on any NVIDIA device; AMD has no such format. */
static int load(struct nb_replay *replay)
{
    if (replay->driver.nb_module_load_source != NULL)
        return load_source(replay);
    return NB_CALL(replay, cuModuleLoadDataEx, &replay->utility.module, nb_kernels, 0, NULL, NULL);
}

/* If the device has no such instruction, a kernel that does nothing is launched, and the result says so. */
static int find_flush(struct nb_replay *replay)
{
    struct nb_utility *utility = &replay->utility;
    if (replay->options.flush_code == 0)
        return NB_REPLAY_OK;
    if (replay->driver.nb_module_load_source == NULL)
        return nb_fail(replay, NB_REPLAY_OURS, "no kernel flushes this device's instruction caches");
    utility->has_icache_inv = replay->driver.cuModuleGetFunction(&utility->flush, utility->module,
                                                                 "nb_flush_icache") == CUDA_SUCCESS;
    if (!utility->has_icache_inv)
        utility->flush = utility->empty;
    return NB_REPLAY_OK;
}

/* The maximum per block, which is a constant of AMD devices. */
static int allow_shared(struct nb_replay *replay)
{
    struct nb_utility *utility = &replay->utility;
    int usual = 0, most = 0;
    NB_TRY(NB_CALL(replay, cuDeviceGetAttribute, &usual, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
                   replay->device));
    NB_TRY(NB_CALL(replay, cuDeviceGetAttribute, &most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                   replay->device));
    if (most > usual)
        NB_TRY(NB_CALL(replay, cuFuncSetAttribute, utility->fill_shared,
                       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most));
    utility->shared_bytes = (uint32_t)most & ~15u;
    return NB_REPLAY_OK;
}

static int find_functions(struct nb_replay *replay)
{
    struct nb_utility *utility = &replay->utility;
    const struct {
        const char *name;
        CUfunction *function;
    } wanted[] = {
        {"nb_hold", &utility->hold},   {"nb_time", &utility->time},
        {"nb_read", &utility->read},   {"nb_fill_shared", &utility->fill_shared},
        {"nb_stamp", &utility->stamp}, {"nb_empty", &utility->empty},
        {"nb_touch", &utility->touch}, {"nb_noise", &utility->noise},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        NB_TRY(NB_CALL(replay, cuModuleGetFunction, wanted[i].function, utility->module, wanted[i].name));
        if (replay->driver.cuFuncLoad != NULL)
            NB_TRY(NB_CALL(replay, cuFuncLoad, *wanted[i].function));
    }
    return NB_REPLAY_OK;
}

int nb_utility_build(struct nb_replay *replay)
{
    struct nb_utility *utility = &replay->utility;
    NB_TRY(load(replay));
    NB_TRY(find_functions(replay));
    NB_TRY(find_flush(replay));
    NB_TRY(allow_shared(replay));
    NB_TRY(NB_CALL(replay, cuMemHostAlloc, (void **)&utility->signal, sizeof *utility->signal,
                   CU_MEMHOSTALLOC_DEVICEMAP));
    NB_TRY(NB_CALL(replay, cuMemHostGetDevicePointer_v2, &utility->signal_device, utility->signal, 0));
    NB_TRY(NB_CALL(replay, cuMemAlloc_v2, &utility->sink, SINK_BYTES));
    if (replay->options.scrub == 0)
        return NB_REPLAY_OK;
    return NB_CALL(replay, cuMemAlloc_v2, &utility->shared_noise, utility->shared_bytes);
}

static uint64_t hold_limit_ns(const struct nb_replay *replay)
{
    return replay->options.prime_limit_ms * UINT64_C(1000000);
}

int nb_utility_hold(struct nb_replay *replay)
{
    const CUdeviceptr signal = replay->utility.signal_device;
    CUdeviceptr release = signal + offsetof(struct nb_signal, release);
    CUdeviceptr gave_up = signal + offsetof(struct nb_signal, gave_up);
    CUdeviceptr began = signal + offsetof(struct nb_signal, began);
    uint64_t limit_ns = hold_limit_ns(replay);
    void *parameters[] = {&release, &gave_up, &began, &limit_ns};
    replay->utility.held_ns = replay->driver.now_ns();
    return launch(replay, replay->utility.hold, 1, 1, 0, parameters);
}

/* The stream goes on after the limit, and kernels behind the hold could then write `began`. By the host's
 * clock the limit has not passed if it has not passed since before the launch. */
uint64_t nb_utility_release(struct nb_replay *replay)
{
    struct nb_signal *signal = replay->utility.signal;
    const uint64_t end_ns = replay->utility.held_ns + hold_limit_ns(replay);
    uint64_t began_ns = 0;
    bool in_time = true;
    atomic_store_explicit(&signal->release, NB_RELEASE_BEGIN, memory_order_release);
    while (began_ns == 0 && in_time) {
        sched_yield();
        began_ns = atomic_load_explicit(&signal->began, memory_order_acquire);
        in_time = replay->driver.now_ns() < end_ns;
    }
    atomic_store_explicit(&signal->release, NB_RELEASE_GO, memory_order_release);
    return in_time ? began_ns : 0;
}

int nb_utility_end(struct nb_replay *replay)
{
    CUdeviceptr ended = replay->utility.signal_device + offsetof(struct nb_signal, ended);
    void *parameters[] = {&ended};
    return launch(replay, replay->utility.time, 1, 1, 0, parameters);
}

double nb_utility_span_us(const struct nb_replay *replay, uint64_t began_ns)
{
    const uint64_t ended_ns = atomic_load(&replay->utility.signal->ended);
    return began_ns == 0 || ended_ns <= began_ns ? 0 : (double)(ended_ns - began_ns) / 1000.0;
}

int nb_utility_read(struct nb_replay *replay, CUdeviceptr from, uint64_t bytes)
{
    uint64_t units = bytes / 16;
    void *parameters[] = {&from, &units, &replay->utility.sink};
    return launch(replay, replay->utility.read, replay->facts.multiprocessors * READ_BLOCKS_EACH,
                  READ_THREADS, 0, parameters);
}

/* The buffer stays mapped while the region runs, so the words are overwritten as soon as they are copied. */
int nb_utility_scrub(struct nb_replay *replay, uint32_t seed)
{
    struct nb_utility *utility = &replay->utility;
    void *parameters[] = {&utility->shared_noise, &utility->shared_bytes};
    NB_TRY(nb_utility_noise(replay, utility->shared_noise, utility->shared_bytes, seed));
    NB_TRY(launch(replay, utility->fill_shared, replay->facts.multiprocessors, FILL_THREADS,
                  utility->shared_bytes, parameters));
    return NB_CALL(replay, cuMemsetD8Async, utility->shared_noise, 0, utility->shared_bytes,
                   replay->streams.timed);
}

int nb_utility_touch(struct nb_replay *replay, CUdeviceptr from, uint64_t bytes, uint64_t step)
{
    uint64_t pages = (bytes + step - 1) / step;
    void *parameters[] = {&from, &pages, &step};
    return launch(replay, replay->utility.touch, replay->facts.multiprocessors, READ_THREADS, 0, parameters);
}

/* The kernel writes whole words; bytes before the first and behind the last word get one repeated byte. */
int nb_utility_noise(struct nb_replay *replay, CUdeviceptr to, uint64_t bytes, uint32_t seed)
{
    const CUstream stream = replay->streams.timed;
    const uint64_t before = (4 - to % 4) % 4, head = before < bytes ? before : bytes;
    uint64_t words = (bytes - head) / 4, tail = (bytes - head) % 4;
    CUdeviceptr first = to + head;
    uint64_t key = replay->options.key;
    void *parameters[] = {&first, &words, &key, &seed};
    if (head != 0)
        NB_TRY(NB_CALL(replay, cuMemsetD8Async, to, (unsigned char)(seed | 1), (size_t)head, stream));
    if (tail != 0)
        NB_TRY(NB_CALL(replay, cuMemsetD8Async, to + bytes - tail, (unsigned char)(seed >> 8 | 1),
                       (size_t)tail, stream));
    if (words == 0)
        return NB_REPLAY_OK;
    const uint64_t most = (uint64_t)replay->facts.multiprocessors * READ_BLOCKS_EACH;
    const uint64_t needed = (words + NOISE_WORDS_EACH - 1) / NOISE_WORDS_EACH; /* one unit for each thread */
    return launch(replay, replay->utility.noise, (unsigned)(needed < most ? needed : most), READ_THREADS, 0,
                  parameters);
}

int nb_utility_forget(struct nb_replay *replay)
{
    return NB_CALL(replay, cuMemsetD8Async, replay->utility.sink, 0, SINK_BYTES, replay->streams.timed);
}

int nb_utility_empty(struct nb_replay *replay, CUstream stream)
{
    return launch_on(replay, stream, replay->utility.empty, 1, 1, 0, NULL);
}

uint32_t nb_utility_flush_blocks(const struct nb_replay *replay)
{
    return replay->utility.flush == NULL ? 0 : replay->facts.multiprocessors * FLUSH_BLOCKS_EACH;
}

int nb_utility_flush(struct nb_replay *replay)
{
    if (replay->utility.flush == NULL)
        return NB_REPLAY_OK;
    return launch(replay, replay->utility.flush, nb_utility_flush_blocks(replay), FLUSH_THREADS, 0, NULL);
}

void nb_utility_reset(struct nb_replay *replay)
{
    memset(replay->utility.signal, 0, sizeof *replay->utility.signal);
}

int nb_utility_stamp(struct nb_replay *replay, bool after)
{
    CUdeviceptr stamps = replay->utility.signal_device +
                         (after ? offsetof(struct nb_signal, after) : offsetof(struct nb_signal, before));
    uint32_t count = NB_STAMPS_MAX;
    void *parameters[] = {&stamps, &count};
    return launch(replay, replay->utility.stamp, replay->facts.multiprocessors, 1, 0, parameters);
}

/* Clocks of two multiprocessors started at different times, so both stamps must come from the same one. */
double nb_utility_clock_mhz(const struct nb_replay *replay)
{
    const struct nb_signal *signal = replay->utility.signal;
    for (int i = 0; i < NB_STAMPS_MAX; i++) {
        const struct nb_stamp before = signal->before[i], after = signal->after[i];
        if (before.timer != 0 && after.timer > before.timer && after.clock > before.clock)
            return 1000.0 * (double)(after.clock - before.clock) / (double)(after.timer - before.timer);
    }
    return 0;
}

void nb_utility_close(struct nb_replay *replay)
{
    const struct nb_utility *utility = &replay->utility;
    if (replay->gone != NB_REPLAY_OK || replay->context == NULL)
        return;
    if (utility->module != NULL)
        replay->driver.cuModuleUnload(utility->module);
    if (utility->shared_noise != 0)
        replay->driver.cuMemFree_v2(utility->shared_noise);
    if (utility->sink != 0)
        replay->driver.cuMemFree_v2(utility->sink);
    if (utility->signal != NULL)
        replay->driver.cuMemFreeHost(utility->signal);
}
