/* bench KERNELS.PTX WORKERS ROUNDS [NAME]: times each kernel on one worker and on WORKERS, and its loop in C,
 * in turn. Prints "name lane-instructions one-ns all-ns c-ns" per round. Exits if a kernel and its loop
 * compute different results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "ptx/ptx.h"

enum { WORDS = 1 << 22 };

struct kernel {
    const char *name;
    plain *plain;
    uint32_t blocks, count;
    uint32_t per_turn,
        turns_of_count; /* lane-instructions per thread; a turn is `turns_of_count` of the count */
    uint32_t results;   /* number of words in out */
    unsigned arrays;    /* number of parameters that are addresses */
};

static const struct kernel kernels[] = {
    {"integers", plain_integers, 32, 2000, 11, 1, 32 * THREADS, 1},
    {"floats", plain_floats, 32, 2000, 11, 1, 32 * THREADS, 1},
    {"copy", plain_copy, 32, 512, 7, 1, 32 * THREADS * 512, 2},
    {"matrices", plain_matrices, 64, 128, 20 + 16 * 8, 16, 128 * 128, 3},
    {"divergent", plain_divergent, 32, 500, 10, 1, 32 * THREADS, 1},
    {"atomics", plain_atomics, 32, 500, 8, 1, 64, 1},
};

static uint32_t *memory; /* out, a and b, WORDS words each */

static bool find(void *context, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable)
{
    (void)context;
    *begin = (uint64_t)(uintptr_t)memory;
    *end = (uint64_t)(uintptr_t)(memory + 3 * (size_t)WORDS);
    *writable = true;
    return address >= *begin && address < *end;
}

/* Processor time, which other processes on the machine do not lengthen. */
static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double run(const struct ptx_module *module, const struct kernel *kernel, unsigned workers)
{
    struct {
        uint64_t addresses[3];
        uint32_t count;
    } all = {.count = kernel->count};
    unsigned char parameters[sizeof all];
    struct ptx_diagnostic diagnostic = {0};
    for (unsigned i = 0; i < 3; i++)
        all.addresses[i] = (uint64_t)(uintptr_t)(memory + i * (size_t)WORDS);
    memcpy(parameters, all.addresses, kernel->arrays * sizeof(uint64_t));
    memcpy(parameters + kernel->arrays * sizeof(uint64_t), &kernel->count, sizeof kernel->count);
    const bool flat = kernel->plain != plain_matrices;
    const struct ptx_launch launch = {.kernel = ptx_module_find_kernel(module, kernel->name),
                                      .grid = {flat ? kernel->blocks : 8, flat ? 1 : kernel->blocks / 8, 1},
                                      .block = {flat ? THREADS : 16, flat ? 1 : THREADS / 16, 1},
                                      .parameters = parameters,
                                      .memory = {.find = find},
                                      .workers = workers};
    const clockid_t clock = workers == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    memset(memory, 0, kernel->results * sizeof *memory);
    const double begin = now(clock);
    if (ptx_run(&launch, &diagnostic) != PTX_OK) {
        fprintf(stderr, "bench: %s: %s\n", kernel->name, diagnostic.text);
        exit(1);
    }
    return now(clock) - begin;
}

static double run_plain(const struct kernel *kernel, uint32_t *out)
{
    const struct arguments arguments = {.out = out,
                                        .a = memory + WORDS,
                                        .b = memory + 2 * (size_t)WORDS,
                                        .threads = kernel->blocks * THREADS,
                                        .count = kernel->count};
    memset(out, 0, kernel->results * sizeof *out);
    const double begin = now(CLOCK_PROCESS_CPUTIME_ID);
    kernel->plain(&arguments);
    return now(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static void check(const struct kernel *kernel, const uint32_t *wanted)
{
    for (uint32_t i = 0; i < kernel->results; i++)
        if (memory[i] != wanted[i]) {
            fprintf(stderr, "bench: %s: word %u is %08x, not %08x\n", kernel->name, i, memory[i], wanted[i]);
            exit(1);
        }
}

static struct ptx_module *load(const char *path)
{
    static char text[1 << 16];
    struct ptx_module *module = NULL;
    struct ptx_diagnostic diagnostic = {0};
    FILE *file = fopen(path, "rb");
    const size_t bytes = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    if (bytes == 0 || ptx_module_parse(text, bytes, &module, &diagnostic) != 0) {
        fprintf(stderr, "bench: %s: %s\n", path, bytes != 0 ? diagnostic.text : "cannot be read");
        exit(1);
    }
    fclose(file);
    return module;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct ptx_module *module = load(argv[1]);
    const unsigned workers = (unsigned)atoi(argv[2]);
    memory = calloc(3, WORDS * sizeof *memory);
    uint32_t *wanted = malloc(WORDS * sizeof *wanted);
    if (memory == NULL || wanted == NULL)
        return 1;
    for (uint32_t i = WORDS; i < 3 * WORDS; i++) {
        const float value = (float)(i % 97) * 0.125f;
        memcpy(&memory[i], &value, sizeof value);
    }
    for (int round = 0; round < atoi(argv[3]); round++)
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
            const struct kernel *kernel = &kernels[i];
            if (argc > 4 && strcmp(argv[4], kernel->name) != 0)
                continue;
            const double lanes = (double)kernel->blocks * THREADS;
            const double instructions = lanes * kernel->count / kernel->turns_of_count * kernel->per_turn;
            const double plain_ns = run_plain(kernel, wanted);
            const double one = run(module, kernel, 1);
            check(kernel, wanted);
            const double begin = now(CLOCK_PROCESS_CPUTIME_ID);
            const double all = run(module, kernel, workers);
            const double busy = (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / all;
            check(kernel, wanted);
            printf("%s %.0f %.0f %.0f %.0f %.2f\n", kernel->name, instructions, one, all, plain_ns, busy);
            fflush(stdout);
        }
    ptx_module_free(module);
    free(memory);
    free(wanted);
    return 0;
}
