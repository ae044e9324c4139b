/* A program as hipcc makes it: code, a kernel and a global registered by a constructor, and a kernel's
 * launches in every form that HIP has. Each form that is named as an argument is launched once, within a
 * region if there is one. CODE is a file with the bundle. */
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hip_extra.h"

__asm__(".section .hip_fatbin, \"a\", @progbits\n.balign 4096\ncode:\n.incbin \"" CODE "\"\n.previous\n");
extern const char code[];

static const struct {
    uint32_t magic, version;
    const void *binary;
    void *unused;
} wrapper __attribute__((section(".hipFatBinSegment"))) = {0x48495046, 1, code, NULL};

enum { COUNT = 1000 };

static const int stub; /* its address is the kernel's name on the host, as clang's handle is */
static float shadow[4];
static void **registered;

__attribute__((constructor)) static void link_in(void)
{
    registered = __hipRegisterFatBinary(&wrapper);
    __hipRegisterFunction(registered, &stub, "scale", "scale", (unsigned)-1, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterVar(registered, shadow, "table", "table", 0, sizeof shadow, 0, 0);
}

static void check(hipError_t result, const char *what)
{
    if (result != hipSuccess) {
        fprintf(stderr, "%s returned %d\n", what, (int)result);
        exit(1);
    }
}

#define CHECK(call) check((call), #call)

static float *memory;
static float factor = 2.0f;
static unsigned int count = COUNT;
static const dim3 grid = {4, 1, 1}, block = {256, 1, 1};

static hipFunction_t function(void)
{
    hipModule_t module;
    hipFunction_t found;
    CHECK(hipModuleLoadData(&module, code));
    CHECK(hipModuleGetFunction(&found, module, "scale"));
    return found;
}

static void launch(const char *form)
{
    void *parameters[] = {&memory, &factor, &count};
    hipLaunchParams one = {(void *)(uintptr_t)&stub, grid, block, parameters, 0, NULL};
    hipEvent_t event;
    if (strcmp(form, "stub") == 0)
        CHECK(hipLaunchKernel(&stub, grid, block, parameters, 0, NULL));
    else if (strcmp(form, "cooperative") == 0)
        CHECK(hipLaunchCooperativeKernel(&stub, grid, block, parameters, 0, NULL));
    else if (strcmp(form, "ext") == 0)
        CHECK(hipExtLaunchKernel(&stub, grid, block, parameters, 0, NULL, NULL, NULL, 0));
    else if (strcmp(form, "events") == 0) {
        CHECK(hipEventCreate(&event));
        CHECK(hipExtLaunchKernel(&stub, grid, block, parameters, 0, NULL, event, NULL, 0));
    } else if (strcmp(form, "devices") == 0)
        CHECK(hipExtLaunchMultiKernelMultiDevice(&one, 1, 0));
    else if (strcmp(form, "configured") == 0) {
        CHECK(hipConfigureCall(grid, block, 0, NULL));
        CHECK(hipSetupArgument(&memory, sizeof memory, 0));
        CHECK(hipSetupArgument(&factor, sizeof factor, 8));
        CHECK(hipSetupArgument(&count, sizeof count, 12));
        CHECK(hipLaunchByPtr(&stub));
    } else if (strcmp(form, "module") == 0)
        CHECK(hipModuleLaunchKernel(function(), 4, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL));
    else if (strcmp(form, "threads") == 0)
        CHECK(_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
            function(), 1024, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL, NULL, NULL, 0));
    else if (strcmp(form, "unknown") == 0) /* no kernel's stub: the library says so, and nobody may crash */
        printf("unknown %d\n", (int)hipLaunchKernel(&factor, grid, block, parameters, 0, NULL));
    else if (strcmp(form, "global") == 0) {
        const float value[4] = {1, 2, 3, 4};
        CHECK(hipMemcpyToSymbol(shadow, value, sizeof value, 0, hipMemcpyHostToDevice));
    } else {
        fprintf(stderr, "no form %s\n", form);
        exit(1);
    }
}

static void region(const char *name, const char *what)
{
    union {
        void *address;
        int (*call)(const char *);
    } found = {dlsym(RTLD_DEFAULT, name)};
    if (found.address != NULL && getenv("REGION") != NULL && found.call(what) != 0)
        exit(1);
}

/* A process that is forked before HIP is first called may call it, and has the parent's registered code. */
static int in_child(void (*work)(int, char **), int argc, char **argv)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        work(argc, argv);
        exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void work(int argc, char **argv)
{
    float values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)i;
    CHECK(hipMalloc((void **)&memory, sizeof values));
    CHECK(hipMemcpy(memory, values, sizeof values, hipMemcpyHostToDevice));
    region("neutrino_region_begin", "launches");
    for (int i = 1; i < argc; i++)
        launch(argv[i]);
    region("neutrino_region_end", NULL);
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpy(values, memory, sizeof values, hipMemcpyDeviceToHost));
    printf("memory %llu\nvalue %g\n", (unsigned long long)(uintptr_t)memory, (double)values[1]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (getenv("FORK") != NULL)
        return in_child(work, argc, argv);
    work(argc, argv);
    __hipUnregisterFatBinary(registered);
    return 0;
}
