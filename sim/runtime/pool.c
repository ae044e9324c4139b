/* Memory pools. */
#include "runtime/cudart.h"

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps) &&
                   sizeof(struct cudaMemLocation) == sizeof(CUmemLocation) &&
                   sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc),
               "passed on unchanged");

FORWARD(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * memPool, int device), cuDeviceGetDefaultMemPool,
        memPool, device)
FORWARD(cudaDeviceGetMemPool, (cudaMemPool_t * memPool, int device), cuDeviceGetMemPool, memPool, device)
FORWARD(cudaDeviceSetMemPool, (int device, cudaMemPool_t memPool), cuDeviceSetMemPool, device, memPool)
FORWARD(cudaMemGetDefaultMemPool,
        (cudaMemPool_t * memPool, struct cudaMemLocation *location, enum cudaMemAllocationType type),
        cuMemGetDefaultMemPool, memPool, (CUmemLocation *)(void *)location, (CUmemAllocationType)type)
FORWARD(cudaMemGetMemPool,
        (cudaMemPool_t * memPool, struct cudaMemLocation *location, enum cudaMemAllocationType type),
        cuMemGetMemPool, memPool, (CUmemLocation *)(void *)location, (CUmemAllocationType)type)
FORWARD(cudaMemSetMemPool,
        (struct cudaMemLocation * location, enum cudaMemAllocationType type, cudaMemPool_t memPool),
        cuMemSetMemPool, (CUmemLocation *)(void *)location, (CUmemAllocationType)type, memPool)
FORWARD(cudaMemPoolCreate, (cudaMemPool_t * memPool, const struct cudaMemPoolProps *poolProps),
        cuMemPoolCreate, memPool, (const CUmemPoolProps *)(const void *)poolProps)
FORWARD(cudaMemPoolDestroy, (cudaMemPool_t memPool), cuMemPoolDestroy, memPool)
FORWARD(cudaMemPoolTrimTo, (cudaMemPool_t memPool, size_t minBytesToKeep), cuMemPoolTrimTo, memPool,
        minBytesToKeep)
FORWARD(cudaMemPoolSetAttribute, (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
        cuMemPoolSetAttribute, memPool, (CUmemPool_attribute)attr, value)
FORWARD(cudaMemPoolGetAttribute, (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
        cuMemPoolGetAttribute, memPool, (CUmemPool_attribute)attr, value)
FORWARD(cudaMemPoolSetAccess, (cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count),
        cuMemPoolSetAccess, memPool, (const CUmemAccessDesc *)(const void *)descList, count)
FORWARD(cudaMemPoolGetAccess,
        (enum cudaMemAccessFlags * flags, cudaMemPool_t memPool, struct cudaMemLocation *location),
        cuMemPoolGetAccess, (CUmemAccess_flags *)(void *)flags, memPool, (CUmemLocation *)(void *)location)
