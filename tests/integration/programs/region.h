/* Shared by programs with a region: a context, device memory, and the region's ends. */
#ifndef REGION_H
#define REGION_H

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const CUresult result_ = (call);                                                                     \
        if (result_ != CUDA_SUCCESS) {                                                                       \
            fprintf(stderr, "line %d: %s returned %d\n", __LINE__, #call, (int)result_);                     \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static inline void region_start(void)
{
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
}

/* Its address goes to stdout, so that a test knows it. */
static inline CUdeviceptr region_allocate(const char *name, size_t bytes)
{
    CUdeviceptr address;
    CHECK(cuMemAlloc(&address, bytes));
    printf("%s %llu\n", name, (unsigned long long)address);
    return address;
}

static inline void region_call(const char *name, const char *region)
{
    union {
        void *address;
        int (*begin)(const char *);
        int (*end)(void);
        const char *(*error)(void);
    } function = {dlsym(RTLD_DEFAULT, name)};
    if (function.address == NULL) {
        fprintf(stderr, "no %s: is this program run under the shim?\n", name);
        exit(1);
    }
    if ((region != NULL ? function.begin(region) : function.end()) != 0) {
        function.address = dlsym(RTLD_DEFAULT, "neutrino_region_error");
        fprintf(stderr, "%s: %s\n", name, function.error());
        exit(1);
    }
}

static inline void region_begin(const char *name)
{
    region_call("neutrino_region_begin", name);
}

static inline void region_end(void)
{
    region_call("neutrino_region_end", NULL);
}

#endif
