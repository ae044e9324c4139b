/* Functions that HIP programs with a region share. */
#ifndef HIP_REGION_H
#define HIP_REGION_H

#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nor may what a recorder does for itself be the last error. */
#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const hipError_t result_ = (call), last_ = hipPeekAtLastError();                                     \
        if (result_ != hipSuccess || last_ != hipSuccess) {                                                  \
            fprintf(stderr, "line %d: %s returned %d, the last error is %d\n", __LINE__, #call,              \
                    (int)result_, (int)last_);                                                               \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Its address goes to stdout, so that a test knows it. */
static inline void *say(const char *name, void *address)
{
    printf("%s %llu\n", name, (unsigned long long)(uintptr_t)address);
    return address;
}

static inline void *allocate(const char *name, size_t bytes)
{
    void *address;
    CHECK(hipMalloc(&address, bytes));
    return say(name, address);
}

static inline void region(const char *function, const char *name)
{
    union {
        void *address;
        int (*begin)(const char *);
        int (*end)(void);
        const char *(*error)(void);
    } is = {dlsym(RTLD_DEFAULT, function)};
    if (is.address == NULL) {
        fprintf(stderr, "no %s: is this program run under the shim?\n", function);
        exit(1);
    }
    if ((name != NULL ? is.begin(name) : is.end()) == 0)
        return;
    is.address = dlsym(RTLD_DEFAULT, "neutrino_region_error");
    fprintf(stderr, "%s: %s\n", function, is.error());
    exit(1);
}

static inline void region_begin(const char *name)
{
    region("neutrino_region_begin", name);
}

static inline void region_end(void)
{
    region("neutrino_region_end", NULL);
}

/* Declared for clang alone: a program compiled for per-thread default streams calls them. */
hipError_t hipMemcpy_spt(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind);
hipError_t hipMemset_spt(void *dst, int value, size_t sizeBytes);
hipError_t hipStreamSynchronize_spt(hipStream_t stream);

#endif
