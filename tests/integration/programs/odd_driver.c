/* A driver with two habits of real ones: it calls its own exports through its symbol table, where a shim that
 * is loaded before it stands in between; and it hands out a function that it does not export. */
#include <cuda.h>
#include <string.h>

#define ODD_EXPORT __attribute__((visibility("default")))

static CUresult secret(void)
{
    return (CUresult)42;
}

ODD_EXPORT CUresult cuInit(unsigned int flags)
{
    (void)flags;
    return CUDA_SUCCESS;
}

ODD_EXPORT CUresult cuCtxSynchronize(void)
{
    return CUDA_SUCCESS;
}

/* Compiled without -Bsymbolic: this call leaves the library. */
ODD_EXPORT CUresult cuStreamQuery(CUstream stream)
{
    (void)stream;
    return cuCtxSynchronize();
}

#undef cuGetProcAddress
ODD_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult *status)
{
    (void)version, (void)flags, (void)status;
    *pfn = strcmp(symbol, "cuSecret") == 0 ? (void *)secret : NULL;
    return CUDA_SUCCESS;
}
