/* calls DRIVER [real]: nanoseconds a call, direct and through the shim, side by side in one run.
 *
 * Run under `neutrino-bench`: the shim is preloaded, DRIVER is the driver behind it, opened by libc's own
 * dlopen, which no hook redirects, so that both ways end in the very same functions. Bursts are shorter than
 * a ring and followed by a pause, so that no record ever waits: what is timed is the hot path. Beside each
 * burst, two reads of the time stamp counter are timed, which every record of a call needs. One line a burst:
 *     KIND direct NS through NS reads NS
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BURST = 3000, ROUNDS = 60, PAUSE_MICROSECONDS = 20000 };

struct functions {
    CUresult (*init)(unsigned int);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*get_function)(CUfunction *, CUmodule, const char *);
    CUresult (*passed)(unsigned int *);
    CUresult (*recorded)(CUstream);
    CUresult (*repeated)(CUstream);
    CUresult (*synchronize)(void);
    CUresult (*launch)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                       unsigned int, unsigned int, CUstream, void **, void **);
};

enum { FUNCTIONS = sizeof(struct functions) / sizeof(void *) };

static const char *const cuda_names[FUNCTIONS] = {
    "cuInit",        "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuModuleLoadData", "cuModuleGetFunction",
    "cuCtxGetFlags", "cuStreamSynchronize",      "cuStreamQuery",   "cuCtxSynchronize", "cuLaunchKernel",
};
/* HIP's functions with the same ABI. A device has one context, which is current. */
static const char *const hip_names[FUNCTIONS] = {"hipInit",
                                                 NULL,
                                                 NULL,
                                                 "hipModuleLoadData",
                                                 "hipModuleGetFunction",
                                                 "hipPeekAtLastError",
                                                 "hipStreamSynchronize",
                                                 "hipStreamQuery",
                                                 "hipDeviceSynchronize",
                                                 "hipModuleLaunchKernel"};

static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry nothing(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n  ret;\n}\n";

static void find(struct functions *functions, void *handle, const char *const *names)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        ((void **)functions)[i] = names[i] != NULL ? dlsym(handle, names[i]) : NULL;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double time_passed(const struct functions *use)
{
    unsigned int flags;
    const double start = now();
    for (int i = 0; i < BURST; i++)
        use->passed(&flags);
    return (now() - start) / BURST;
}

static double time_recorded(const struct functions *use)
{
    const double start = now();
    for (int i = 0; i < BURST; i++)
        use->recorded(NULL);
    return (now() - start) / BURST;
}

/* Equal queries, which one record counts. */
static double time_repeated(const struct functions *use)
{
    const double start = now();
    for (int i = 0; i < BURST; i++)
        use->repeated(NULL);
    return (now() - start) / BURST;
}

static CUfunction function;

/* A driver's launch queue holds about 1000 launches; longer bursts would time the device instead of the call.
 */
static double time_launch(const struct functions *use)
{
    void *a = NULL, *b = NULL;
    int n = 1;
    void *parameters[] = {&a, &b, &n};
    const int launches = use->synchronize != NULL ? 500 : BURST;
    const double start = now();
    for (int i = 0; i < launches; i++)
        use->launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
    const double end = now();
    if (use->synchronize != NULL)
        use->synchronize();
    return (end - start) / launches;
}

static double time_reads(void)
{
    static volatile unsigned long long sum;
    const double start = now();
    for (int i = 0; i < BURST; i++) {
        const unsigned long long first = __builtin_ia32_rdtsc();
        sum = __builtin_ia32_rdtsc() - first;
    }
    return (now() - start) / BURST;
}

static void measure(const char *kind, double (*time_burst)(const struct functions *),
                    const struct functions *direct, const struct functions *through)
{
    for (int round = 0; round < ROUNDS; round++) {
        /* Alternate the order, so that neither side always finds warm caches. */
        const double first = time_burst(round % 2 == 0 ? direct : through);
        const double second = time_burst(round % 2 == 0 ? through : direct);
        printf("%s direct %.2f through %.2f reads %.2f\n", kind, round % 2 == 0 ? first : second,
               round % 2 == 0 ? second : first, time_reads());
        usleep(PAUSE_MICROSECONDS);
    }
}

static void *open_directly(const char *path)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    union {
        void *address;
        void *(*function)(const char *, int);
    } found = {libc != NULL ? dlsym(libc, "dlopen") : NULL};
    return found.address != NULL ? found.function(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

int main(int argc, char **argv)
{
    void *driver = argc > 1 ? open_directly(argv[1]) : NULL;
    if (driver == NULL) {
        fprintf(stderr, "calls: cannot open the driver: %s\n", dlerror());
        return 1;
    }
    struct functions direct, through;
    const char *const *const names = dlsym(driver, "hipInit") != NULL ? hip_names : cuda_names;
    find(&direct, driver, names);
    find(&through, RTLD_DEFAULT, names);
    /* The null driver has no contexts and nothing to wait for; a generic shim exports the calls all the same.
     */
    if (direct.retain == NULL)
        through.retain = NULL;
    if (direct.synchronize == NULL)
        through.synchronize = NULL;
    if (through.init == NULL || direct.init == NULL || through.init == direct.init) {
        fprintf(stderr, "calls: no shim is preloaded; run this under neutrino-bench\n");
        return 1;
    }
    CUmodule module;
    CUcontext context;
    if (through.init(0) != CUDA_SUCCESS)
        return 1;
    if (through.retain != NULL &&
        (through.retain(&context, 0) != CUDA_SUCCESS || through.set_current(context)))
        return 1;
    if (through.load(&module, ptx) != CUDA_SUCCESS ||
        through.get_function(&function, module, "nothing") != CUDA_SUCCESS)
        return 1;
    time_launch(&through);
    time_launch(&direct);
    measure("passed", time_passed, &direct, &through);
    measure("recorded", time_recorded, &direct, &through);
    measure("repeated", time_repeated, &direct, &through);
    measure("launch", time_launch, &direct, &through);
    return 0;
}
