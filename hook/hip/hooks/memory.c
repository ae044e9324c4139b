/* Allocations without a stream whose parameters differ from CUDA's. */

#include "cuda/memory/foreign.h"
#include "hip/hooks/answer.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* Flags make memory of another kind (coherent with the host, for signals). A replay would allocate plain
 * memory. */
hipError_t nb_wrap_when_recording_hip_alloc_with_flags(const struct nb_call *call,
                                                       nb_hipExtMallocWithFlags_t real, void **ptr,
                                                       size_t sizeBytes, unsigned int flags)
{
    if (flags == hipDeviceMallocDefault)
        return nb_hip_answer(nb_wrap_when_recording_alloc(call, NB_SAME(cuMemAlloc_v2, NB_REAL(hipMalloc)),
                                                          (CUdeviceptr *)ptr, sizeBytes));
    const hipError_t result = real(ptr, sizeBytes, flags);
    if (result == hipSuccess && ptr != NULL)
        nb_foreign_add(nb_address(*ptr), sizeBytes, "fine-grained memory");
    return result;
}

static CUresult rows(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                     unsigned int element_bytes)
{
    (void)element_bytes;
    return (CUresult)NB_REAL(hipMallocPitch)((void **)address, pitch, width, height);
}

hipError_t nb_wrap_when_recording_hip_alloc_rows(const struct nb_call *call, nb_hipMallocPitch_t real,
                                                 void **ptr, size_t *pitch, size_t width, size_t height)
{
    (void)real;
    return nb_hip_answer(
        nb_wrap_when_recording_alloc_pitch(call, rows, (CUdeviceptr *)ptr, pitch, width, height, 0));
}

/* Allocates the slices as further rows. The driver handles extents that are empty or overflow. */
hipError_t nb_wrap_when_recording_hip_alloc_3d(const struct nb_call *call, nb_hipMalloc3D_t real,
                                               hipPitchedPtr *pitchedDevPtr, hipExtent extent)
{
    CUdeviceptr address = 0;
    size_t height, pitch = 0;
    if (pitchedDevPtr == NULL || extent.width == 0 ||
        __builtin_mul_overflow(extent.height, extent.depth, &height) || height == 0)
        return real(pitchedDevPtr, extent);
    const CUresult result =
        nb_wrap_when_recording_alloc_pitch(call, rows, &address, &pitch, extent.width, height, 0);
    if (result == CUDA_SUCCESS)
        *pitchedDevPtr = (hipPitchedPtr){
            .ptr = (void *)(uintptr_t)address, .pitch = pitch, .xsize = extent.width, .ysize = extent.height};
    return nb_hip_answer(result);
}
