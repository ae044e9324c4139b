/* stress SEED THREADS ROUNDS: every thread runs ROUNDS scenarios, in an order that SEED determines. */
#include "stress.h"
#include "shared.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .global .align 4 .u32 total;\n"
                          ".visible .entry add(.param .u64 words, .param .u32 count, .param .u32 value)\n{\n"
                          ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
                          "ld.param.u64 %rd1, [words];\nld.param.u32 %r1, [count];\n"
                          "ld.param.u32 %r2, [value];\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"
                          "mov.u32 %r5, %tid.x;\nmad.lo.s32 %r6, %r3, %r4, %r5;\n"
                          "setp.ge.u32 %p1, %r6, %r1;\n@%p1 bra done;\n"
                          "mul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                          "ld.global.u32 %r7, [%rd3];\nadd.s32 %r7, %r7, %r2;\nst.global.u32 [%rd3], %r7;\n"
                          "mov.u64 %rd2, total;\nred.global.add.u32 [%rd2], 1;\ndone:\nret;\n}\n";

const char *const module_text = ptx;

void must(CUresult result, const char *call, const char *file, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *name = "?";
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, name);
    exit(1);
}

void check(bool truth, const char *text, const char *file, int line)
{
    if (truth)
        return;
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, text);
    exit(1);
}

unsigned below(struct worker *worker, unsigned bound)
{
    worker->random = worker->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(worker->random >> 33) % bound;
}

void synchronize(struct worker *worker)
{
    pthread_rwlock_wrlock(&worker->shared->captures);
    MUST(cuCtxSynchronize());
    pthread_rwlock_unlock(&worker->shared->captures);
}

void launch_add(struct worker *worker, CUdeviceptr words, uint32_t value, CUstream stream)
{
    uint32_t count = WORDS;
    void *arguments[] = {&words, &count, &value};
    MUST(cuLaunchKernel(worker->add, 2, 1, 1, WORDS / 2, 1, 1, 0, stream, arguments, NULL));
}

void check_words(const uint32_t *words, uint32_t wanted, const char *file, int line)
{
    for (int i = 0; i < WORDS; i++)
        if (words[i] != wanted) {
            fprintf(stderr, "%s:%d: word %d is %u, not %u\n", file, line, i, words[i], wanted);
            exit(1);
        }
}

static scenario *const scenarios[] = {
    chain,         relay,       legacy_orders, per_thread_default, host_functions, pool,
    values,        wide_copies, capture,       forked_capture,     built_graph,    graph_updates,
    closes_queued, own_context, fault,         unloads_queued,     shared_streams, shared_events,
    asks,
};

struct plan {
    struct worker worker;
    unsigned rounds;
};

static void *work(void *context)
{
    struct plan *plan = context;
    struct worker *worker = &plan->worker;
    MUST(cuCtxSetCurrent(worker->shared->context));
    MUST(cuModuleLoadData(&worker->module, ptx));
    MUST(cuModuleGetFunction(&worker->add, worker->module, "add"));
    for (unsigned round = 0; round < plan->rounds; round++)
        scenarios[below(worker, sizeof scenarios / sizeof *scenarios)](worker);
    synchronize(worker);
    MUST(cuModuleUnload(worker->module));
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS_MAX = 64 };
    const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    const unsigned threads = argc > 2 && atoi(argv[2]) < THREADS_MAX ? (unsigned)atoi(argv[2]) : 8;
    const unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 100;
    struct shared shared;
    pthread_t running[THREADS_MAX];
    struct plan plans[THREADS_MAX];
    setenv("SIM_FAULT_SCOPE", "context", 1); /* otherwise the first fault would end all work */
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&shared.context, 0));
    MUST(cuCtxSetCurrent(shared.context));
    make_shared(&shared);
    for (unsigned i = 0; i < threads; i++) {
        plans[i] = (struct plan){.worker = {.shared = &shared, .random = seed * 1000 + i, .number = i},
                                 .rounds = rounds};
        CHECK(pthread_create(&running[i], NULL, work, &plans[i]) == 0);
    }
    for (unsigned i = 0; i < threads; i++)
        CHECK(pthread_join(running[i], NULL) == 0);
    end_shared(&shared);
    MUST(cuDevicePrimaryCtxRelease(0));
    puts("held");
    return 0;
}
