/* rounds COUNT BYTES: allocates, copies in, launches, copies out and frees, COUNT times. Prints the median
 * and the mean time of each call in nanoseconds, one call a line. Needs no headers of CUDA. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 5 };
static const char *const names[CALLS] = {"allocate", "copy in", "launch", "copy out", "free"};
static const char ptx[] =
    "\n.version 7.5\n.target sm_75\n.address_size 64\n.visible .entry add(.param .u64 memory, "
    ".param .u32 count)\n{\n  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .f32 %f<2>;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [count];\n"
    "  setp.ge.u32 %p1, %r4, %r5; @%p1 bra done;\n"
    "  ld.param.u64 %d1, [memory]; cvta.to.global.u64 %d1, %d1;\n"
    "  mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;\n"
    "  ld.global.f32 %f1, [%d3]; add.f32 %f1, %f1, 0f3F800000; st.global.f32 [%d3], %f1;\n"
    "done:\n  ret;\n}\n";

static void *find(void *driver, const char *name)
{
    void *const found = dlsym(driver, name);
    if (found == NULL) {
        fprintf(stderr, "rounds: %s\n", dlerror());
        exit(1);
    }
    return found;
}

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int compare(const void *one, const void *other)
{
    const long long a = *(const long long *)one, b = *(const long long *)other;
    return (a > b) - (a < b);
}

#define FUNCTION(name, ...) int (*name)(__VA_ARGS__) = (int (*)(__VA_ARGS__))find(driver, #name)
#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const int result_ = (call);                                                                          \
        if (result_ != 0) {                                                                                  \
            fprintf(stderr, "rounds: %s returned %d\n", #call, result_);                                     \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 10000;
    const size_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 1 << 20;
    unsigned elements = (unsigned)(bytes / 4);
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == NULL || count < 1) {
        fprintf(stderr, "rounds: %s\n", driver == NULL ? dlerror() : "COUNT must be positive");
        return 1;
    }
    FUNCTION(cuInit, unsigned);
    FUNCTION(cuDevicePrimaryCtxRetain, void **, int);
    FUNCTION(cuCtxSetCurrent, void *);
    FUNCTION(cuModuleLoadData, void **, const void *);
    FUNCTION(cuModuleGetFunction, void **, void *, const char *);
    FUNCTION(cuMemAlloc_v2, unsigned long long *, size_t);
    FUNCTION(cuMemcpyHtoD_v2, unsigned long long, const void *, size_t);
    FUNCTION(cuMemcpyDtoH_v2, void *, unsigned long long, size_t);
    FUNCTION(cuMemFree_v2, unsigned long long);
    FUNCTION(cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
             void *, void **, void **);
    void *context, *module, *function;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&function, module, "add"));
    float *const host = calloc(1, bytes);
    long long *const times[CALLS] = {malloc(count * 8LL), malloc(count * 8LL), malloc(count * 8LL),
                                     malloc(count * 8LL), malloc(count * 8LL)};
    for (int round = -10; round < count; round++) { // the first ten are not counted
        unsigned long long memory;
        void *parameters[] = {&memory, &elements};
        long long at[CALLS + 1];
        at[0] = now();
        CHECK(cuMemAlloc_v2(&memory, bytes));
        at[1] = now();
        CHECK(cuMemcpyHtoD_v2(memory, host, bytes));
        at[2] = now();
        CHECK(cuLaunchKernel(function, (elements + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL));
        at[3] = now();
        CHECK(cuMemcpyDtoH_v2(host, memory, bytes));
        at[4] = now();
        CHECK(cuMemFree_v2(memory));
        at[5] = now();
        for (int call = 0; call < CALLS && round >= 0; call++)
            times[call][round] = at[call + 1] - at[call];
    }
    if (host[0] != (float)(count + 10)) {
        fprintf(stderr, "rounds: the kernel did not run %d times\n", count + 10);
        return 1;
    }
    for (int call = 0; call < CALLS; call++) {
        double sum = 0;
        for (int round = 0; round < count; round++)
            sum += (double)times[call][round];
        qsort(times[call], (size_t)count, sizeof *times[call], compare);
        printf("%s\t%lld\t%.1f\n", names[call], times[call][count / 2], sum / count);
    }
    return 0;
}
