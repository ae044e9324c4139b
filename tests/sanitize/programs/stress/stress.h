/* Threads that use one device at once. Every scenario checks its results and the result of every call. */
#ifndef NEUTRINO_STRESS_H
#define NEUTRINO_STRESS_H

#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORDS = 256, SLOTS = 8 };

struct shared; /* shared by all threads */

struct worker {
    struct shared *shared;
    uint64_t random;
    unsigned number;
    CUmodule module;
    CUfunction add; /* add(u64 words, u32 count, u32 value): words[i] += value */
};

typedef void scenario(struct worker *worker);

/* Ends the process with the call's text unless the result is 0. */
#define MUST(call) must((call), #call, __FILE__, __LINE__)
void must(CUresult result, const char *call, const char *file, int line);

/* The same for a condition. */
#define CHECK(truth) check((truth), #truth, __FILE__, __LINE__)
void check(bool truth, const char *text, const char *file, int line);

unsigned below(struct worker *worker, unsigned bound);

/* cuCtxSynchronize, while no thread captures a stream. */
void synchronize(struct worker *worker);

/* Launch add on `words`. */
void launch_add(struct worker *worker, CUdeviceptr words, uint32_t value, CUstream stream);

/* Check that each word is `wanted`. */
#define CHECK_WORDS(words, wanted) check_words(words, wanted, __FILE__, __LINE__)
void check_words(const uint32_t *words, uint32_t wanted, const char *file, int line);

scenario chain, relay, legacy_orders, per_thread_default, host_functions, pool, values, wide_copies;
scenario capture, forked_capture, built_graph, graph_updates;
scenario closes_queued, unloads_queued, own_context, fault, shared_streams, shared_events, asks;

#endif
