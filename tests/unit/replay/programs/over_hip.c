/* A driver for tests of the engine that stands in for libcuda-over-hip.so: CUDA's functions, without those
 * that HIP lacks, and kernels that are compiled from HIP C++. Functions that it does not define come from the
 * CPU driver, to which it is linked.
 *
 *     KERNELS_PTX   the compiled kernels of the engine; unset: no compiler
 *     HAS_ICACHE    the device has an instruction that empties its instruction cache
 *     CALL_LOG      a file that gets a line for each launch: the kernel's name, blocks, threads; and for each
 * event */
#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT     __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum { SOURCE_MAX = 1 << 20 };

static void note(const char *name, unsigned blocks, unsigned threads)
{
    FILE *log = getenv("CALL_LOG") != NULL ? fopen(getenv("CALL_LOG"), "a") : NULL;
    if (log == NULL)
        return;
    fprintf(log, "%s %u %u\n", name, blocks, threads);
    fclose(log);
}

EXPORT CUresult nb_module_load_source(CUmodule *module, const char *source, const char *ours, char *log,
                                      size_t log_bytes)
{
    static char ptx[SOURCE_MAX];
    if (getenv("KERNELS_PTX") == NULL) {
        snprintf(log, log_bytes, "no hiprtc here\nand more");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (strstr(source, "s_icache_inv") == NULL || strstr(ours, ".entry nb_empty") == NULL)
        return CUDA_ERROR_INVALID_SOURCE;
    FILE *file = fopen(getenv("KERNELS_PTX"), "r");
    if (file == NULL || fread(ptx, 1, sizeof ptx - 1, file) == 0)
        abort();
    fclose(file);
    return REAL(cuModuleLoadDataEx)(module, ptx, 0, NULL, NULL);
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    const bool flush = getenv("HAS_ICACHE") != NULL && strcmp(name, "nb_flush_icache") == 0;
    return REAL(cuModuleGetFunction)(function, module, flush ? "nb_empty" : name);
}

EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                 void **extra)
{
    const char *name = "?";
    if (REAL(cuFuncGetName)(&name, function) == CUDA_SUCCESS)
        note(name, config->gridDimX, config->blockDimX);
    return REAL(cuLaunchKernelEx)(config, function, parameters, extra);
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
    note("record", 0, 0);
    return REAL(cuEventRecord)(event, stream);
}

EXPORT CUresult cuCtxResetPersistingL2Cache(void)
{
    note("reset", 0, 0);
    return CUDA_ERROR_NOT_SUPPORTED;
}

EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    (void)limit, (void)value;
    return CUDA_ERROR_NOT_SUPPORTED;
}

EXPORT CUresult cuGraphUpload(CUgraphExec graph, CUstream stream)
{
    (void)graph, (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

EXPORT CUresult cuGraphNodeSetEnabled(CUgraphExec graph, CUgraphNode node, unsigned enabled)
{
    (void)graph, (void)node, (void)enabled;
    return CUDA_ERROR_NOT_SUPPORTED;
}

EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return CUDA_ERROR_NOT_SUPPORTED;
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    if (attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        attribute = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK;
    return REAL(cuDeviceGetAttribute)(value, attribute, device);
}
