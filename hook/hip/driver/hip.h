/* HIP's functions, in which the CUDA driver's are said here.
 *
 * These sources are compiled twice: into the HIP shim, where HIP(name) is the real library's function and the
 * driver functions are called through their slots (NB_REAL), and, with NB_HIP_BRIDGE, into
 * libcuda-over-hip.so, which opens the HIP library at the first call and exports the driver functions by
 * their names.
 *
 * "Since" is what AMD's hip_hcc.map of ROCm 7.2 says of a symbol's first version. */
#ifndef NEUTRINO_HIP_DRIVER_HIP_H
#define NEUTRINO_HIP_DRIVER_HIP_H

#ifdef NB_HIP_BRIDGE
#pragma GCC visibility push(default) /* what cuda.h declares is what the library exports */
#include <cuda.h>
#pragma GCC visibility pop
#else
#include <cuda.h>
#endif
#include <hip/hip_runtime_api.h>

#include <stdbool.h>
#include <stdint.h>

/* hipMemcpyHtoD.. take the host's side as `void *` before 6.0; a driver function has it const. */
#define NB_HIP_HOST(pointer) ((void *)(uintptr_t)(pointer))

#ifdef NB_HIP_BRIDGE
/* The library's function. A function that the library lacks returns "not supported" (801). */
void *nb_hip_function(const char *name) __attribute__((visibility("hidden")));

/* Each use looks the function up once: launches are timed through here. */
#define HIP(name)                                                                                            \
    (__extension__({                                                                                         \
        static void *nb_found;                                                                               \
        void *nb_function = __atomic_load_n(&nb_found, __ATOMIC_RELAXED);                                    \
        if (nb_function == NULL) {                                                                           \
            nb_function = nb_hip_function(#name);                                                            \
            __atomic_store_n(&nb_found, nb_function, __ATOMIC_RELAXED);                                      \
        }                                                                                                    \
        (__typeof__(&name))nb_function;                                                                      \
    }))
#else
#include "core/driver/slots.h"
#include "real.h"
#include "surface.h"

#define HIP(name) NB_REAL(name)
#endif

/* A function that headers or libraries of some versions lack, by its name: NULL where this library has none.
 */
void *nb_hip_find(const char *name) __attribute__((visibility("hidden")));

/* HIP_LATER(name, result, parameters): the same as a pointer of its type. */
#define HIP_LATER(name, ...) ((hipError_t(*) __VA_ARGS__)(uintptr_t)nb_hip_find(#name))

/* The version of the library, 502 for 5.2, not that of the header: numbers of some enums and the order of
 * some structures changed in between. */
unsigned nb_hip_version(void) __attribute__((visibility("hidden")));

/* What a driver function answers. A call that the shim makes for itself, and that fails, must not be what
 * hipGetLastError tells the program. */
static inline CUresult nb_hip_result(hipError_t result)
{
    if (result != hipSuccess)
        (void)HIP(hipGetLastError)();
    return (CUresult)result;
}

/* The driver's number 1 for the default stream is newer than 5.2 in HIP, where NULL always says it. */
static inline hipStream_t nb_hip_stream(CUstream stream)
{
    return stream == CU_STREAM_LEGACY ? NULL : (hipStream_t)stream;
}

static inline hipDeviceptr_t nb_hip_address(CUdeviceptr address)
{
    return (hipDeviceptr_t)(uintptr_t)address;
}

/* HIP has one context a device that matters: it is the device's ordinal and one. */
static inline CUcontext nb_hip_context(int device)
{
    return (CUcontext)(uintptr_t)(device + 1);
}

/* ---- what differs between the shim and the bridge ------------------------------------------------------ */

/* Is it the address of a host stub, which __hipRegisterFunction named? Else it is a hipFunction_t. */
bool nb_hip_is_stub(CUfunction function) __attribute__((visibility("hidden")));

/* Tells a stream from all others that the process has had, its handle from a destroyed one's; 0: it does not.
 */
unsigned long long nb_hip_stream_number(hipStream_t stream) __attribute__((visibility("hidden")));

/* A kernel's attribute by the address of its stub. */
CUresult nb_hip_stub_attribute(int *value, CUfunction_attribute attribute, CUfunction stub)
    __attribute__((visibility("hidden")));

/* Is `module` what __hipRegisterFatBinary gave? Then where its variable of this name is, or `result` says why
 * not: hipModuleGetGlobal knows only modules that a program loads. */
bool nb_hip_registered_variable(CUmodule module, const char *name, hipDeviceptr_t *address, size_t *bytes,
                                CUresult *result) __attribute__((visibility("hidden")));

/* ---- launch.c ------------------------------------------------------------------------------------------ */

enum { NB_HIP_PACKED_MAX = 9 };

/* The driver's list of packed parameters in `into`, with HIP's end: it is 3, the driver's is 0. NULL for
 * NULL. */
void **nb_hip_packed(void **extra, void *into[NB_HIP_PACKED_MAX]) __attribute__((visibility("hidden")));

/* ---- copy.c -------------------------------------------------------------------------------------------- */

/* False: HIP has no words for it (arrays of another make, mipmaps). */
bool nb_hip_copy_of(const CUDA_MEMCPY3D *from, hipMemcpy3DParms *into) __attribute__((visibility("hidden")));
bool nb_hip_copy_to(const hipMemcpy3DParms *from, CUDA_MEMCPY3D *into) __attribute__((visibility("hidden")));

#endif
