/* A driver for tests of the engine. Functions that it does not define come from the CPU driver, to which it
 * is linked.
 *
 *     FORGET         copies in the device do nothing but for the first: one allocation, restored once
 *     NO_READS       copies to the host do nothing
 *     EVENT_BASE_NS  what a pair of events takes, EVENT_STEP_NS more or less
 *     SMALL_ELSEWHERE  reservations of less than 32 MiB are not where they were asked for (driver 580)
 *     COMPILED_CLUSTERS  a required cluster width is 2, and may not be set
 *     ONE_GLOBAL     every global of a module has the address of the first that was asked for
 *     CALL_LOG       a file that gets a line for each launch (the kernel's name, its attributes) and each
 * timing call, and says what was given (reserved, allocated, pinned ADDRESS BYTES; created 0 BYTES) and
 * limited */
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT     __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void note(const char *what)
{
    static FILE *log;
    if (getenv("CALL_LOG") == NULL)
        return;
    if (log == NULL)
        log = fopen(getenv("CALL_LOG"), "w");
    if (log == NULL)
        abort();
    fprintf(log, "%s\n", what);
    fflush(log);
}

static void note_memory(const char *what, uint64_t address, size_t bytes)
{
    char line[96];
    snprintf(line, sizeof line, "%s %#llx %zu", what, (unsigned long long)address, bytes);
    note(line);
}

static int forgets(void)
{
    static int calls;
    return getenv("FORGET") != NULL && calls++ >= 1;
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return forgets() ? CUDA_SUCCESS : REAL(cuMemcpyDtoDAsync_v2)(to, from, bytes, stream);
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return getenv("NO_READS") != NULL ? CUDA_SUCCESS : REAL(cuMemcpyDtoHAsync_v2)(to, from, bytes, stream);
}

EXPORT CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    static int turn;
    note("elapsed");
    const CUresult result = REAL(cuEventElapsedTime_v2)(ms, start, end);
    if (getenv("EVENT_BASE_NS") != NULL)
        *ms = (float)(atof(getenv("EVENT_BASE_NS")) + turn++ % 3 * atof(getenv("EVENT_STEP_NS"))) / 1e6f;
    return result;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
    note("record");
    return REAL(cuEventRecord)(event, stream);
}

EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                 void **extra)
{
    const char *name = "?";
    if (REAL(cuFuncGetName)(&name, function) == CUDA_SUCCESS)
        note(name);
    for (unsigned i = 0; i < config->numAttrs; i++)
        note_memory("attribute", config->attrs[i].id, 0);
    return REAL(cuLaunchKernelEx)(config, function, parameters, extra);
}

EXPORT CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                    unsigned long long flags)
{
    const int elsewhere = getenv("SMALL_ELSEWHERE") != NULL && bytes < 32u << 20;
    const CUresult result =
        REAL(cuMemAddressReserve)(address, bytes, alignment, elsewhere ? 0 : wanted, flags);
    if (result == CUDA_SUCCESS && wanted == 0)
        note_memory("reserved", *address, bytes);
    return result;
}

EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                            const CUmemAllocationProp *properties, unsigned long long flags)
{
    const CUresult result = REAL(cuMemCreate)(handle, bytes, properties, flags);
    if (result == CUDA_SUCCESS)
        note_memory("created", 0, bytes);
    return result;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    const CUresult result = REAL(cuMemAlloc_v2)(address, bytes);
    if (result == CUDA_SUCCESS)
        note_memory("allocated", *address, bytes);
    return result;
}

EXPORT CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    const CUresult result = REAL(cuMemHostAlloc)(address, bytes, flags);
    if (result == CUDA_SUCCESS)
        note_memory("pinned", (uint64_t)(uintptr_t)*address, bytes);
    return result;
}

EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    note_memory("limit", (uint64_t)limit, value);
    return REAL(cuCtxSetLimit)(limit, value);
}

EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    if (getenv("COMPILED_CLUSTERS") == NULL || attribute != CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)
        return REAL(cuFuncGetAttribute)(value, attribute, function);
    *value = 2;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    if (getenv("COMPILED_CLUSTERS") != NULL && attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)
        return CUDA_ERROR_NOT_PERMITTED;
    return REAL(cuFuncSetAttribute)(function, attribute, value);
}

EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    static CUdeviceptr first;
    const CUresult result = REAL(cuModuleGetGlobal_v2)(address, bytes, module, name);
    if (getenv("ONE_GLOBAL") == NULL || result != CUDA_SUCCESS)
        return result;
    first = first != 0 ? first : *address;
    *address = first;
    return result;
}
