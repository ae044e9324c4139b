/* memory_threads THREADS ROUNDS: threads allocate, fill and free, each on a stream of its own and without
 * one. A block keeps the values that its thread wrote until the thread frees it. */
#include <pthread.h>
#include <string.h>

#include "region.h"

#define HELD 12

struct held {
    CUdeviceptr address;
    size_t bytes;
    unsigned char value;
    int ordered;
};

static CUcontext context;
static int rounds;

static void check(const struct held *held)
{
    unsigned char *copy = malloc(held->bytes);
    CHECK(cuMemcpyDtoH(copy, held->address, held->bytes));
    for (size_t i = 0; i < held->bytes; i++)
        if (copy[i] != held->value) {
            printf("%llx + %zu: %d, not %d\n", (unsigned long long)held->address, i, copy[i], held->value);
            exit(1);
        }
    free(copy);
}

static void fill(struct held *held, unsigned *seed, CUstream stream)
{
    static const size_t sizes[] = {1, 600, 5000, 100000, 700000, 1 << 20, (3 << 20) + 5};
    held->bytes = sizes[(unsigned)rand_r(seed) % 7];
    held->value = (unsigned char)rand_r(seed);
    held->ordered = rand_r(seed) & 1;
    if (held->ordered) {
        CHECK(cuMemAllocAsync(&held->address, held->bytes, stream));
        CHECK(cuMemsetD8Async(held->address, held->value, held->bytes, stream));
        return;
    }
    CHECK(cuMemAlloc(&held->address, held->bytes));
    CHECK(cuMemsetD8(held->address, held->value, held->bytes));
}

static void let_go(struct held *held, unsigned *seed, CUstream stream)
{
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamSynchronize(NULL));
    check(held);
    if (rand_r(seed) & 1)
        CHECK(cuMemFreeAsync(held->address, stream));
    else
        CHECK(cuMemFree(held->address));
    held->address = 0;
}

static void *run(void *argument)
{
    unsigned seed = (unsigned)(size_t)argument;
    struct held held[HELD] = {0};
    CUstream stream;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < rounds; i++) {
        struct held *one = &held[(unsigned)rand_r(&seed) % HELD];
        if (one->address != 0)
            let_go(one, &seed, stream);
        fill(one, &seed, stream);
    }
    for (int i = 0; i < HELD; i++)
        if (held[i].address != 0)
            let_go(&held[i], &seed, stream);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[16];
    const int count = argc > 1 ? atoi(argv[1]) : 4;
    rounds = argc > 2 ? atoi(argv[2]) : 100;
    region_start();
    CHECK(cuCtxGetCurrent(&context));
    for (int i = 0; i < count && i < 16; i++)
        pthread_create(&threads[i], NULL, run, (void *)(size_t)(i + 1));
    for (int i = 0; i < count && i < 16; i++)
        pthread_join(threads[i], NULL);
    puts("right");
    return 0;
}
