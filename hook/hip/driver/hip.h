/* Access to the HIP library for the CUDA driver functions in this folder. These sources are compiled twice.
 * In the HIP shim, HIP(name) is the real library's function, and hooks call the driver functions through
 * their slots (NB_REAL). With NB_HIP_BRIDGE they make libcuda-over-hip.so, which opens the HIP library at the
 * first call and exports the driver functions. "Since" gives a symbol's first version in AMD's hip_hcc.map of
 * ROCm 7.2. */
#ifndef NEUTRINO_HIP_DRIVER_HIP_H
#define NEUTRINO_HIP_DRIVER_HIP_H

#ifdef NB_HIP_BRIDGE
#pragma GCC visibility push(default) /* the library exports cuda.h's functions */
#include <cuda.h>
#pragma GCC visibility pop
#else
#include <cuda.h>
#endif
#include <hip/hip_runtime_api.h>

#include <stdbool.h>
#include <stdint.h>

/* hipMemcpyHtoD and its like take host memory as `void *` before 6.0, CUDA's driver as `const void *`. */
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

/* The address of a function that some headers or libraries lack, or NULL. */
void *nb_hip_find(const char *name) __attribute__((visibility("hidden")));

/* HIP_LATER(name, parameters): nb_hip_find as a pointer to a function with these parameters. */
#define HIP_LATER(name, ...) ((hipError_t(*) __VA_ARGS__)(uintptr_t)nb_hip_find(#name))

/* The version of the library (502 for 5.2), not of the header: some enumerations and structures changed in
 * between. */
unsigned nb_hip_version(void) __attribute__((visibility("hidden")));

/* The result of a driver function. If the shim's own call fails, the program's hipGetLastError must not
 * return that error. */
static inline CUresult nb_hip_result(hipError_t result)
{
    if (result != hipSuccess)
        (void)HIP(hipGetLastError)();
    return (CUresult)result;
}

/* CU_STREAM_LEGACY (1) is newer than HIP 5.2. NULL is the default stream in every release. */
static inline hipStream_t nb_hip_stream(CUstream stream)
{
    return stream == CU_STREAM_LEGACY ? NULL : (hipStream_t)stream;
}

static inline hipDeviceptr_t nb_hip_address(CUdeviceptr address)
{
    return (hipDeviceptr_t)(uintptr_t)address;
}

/* The context of a device: its ordinal plus one. */
static inline CUcontext nb_hip_context(int device)
{
    return (CUcontext)(uintptr_t)(device + 1);
}

/* ---- the shim and the bridge implement these differently ----------------------------------------------- */

/* Whether it is the address of a host stub that __hipRegisterFunction named. Otherwise it is a hipFunction_t.
 */
bool nb_hip_is_stub(CUfunction function) __attribute__((visibility("hidden")));

/* A number that no other stream of the process has, destroyed streams included. 0: unknown. */
unsigned long long nb_hip_stream_number(hipStream_t stream) __attribute__((visibility("hidden")));

/* Reads a kernel's attribute by the address of its stub. */
CUresult nb_hip_stub_attribute(int *value, CUfunction_attribute attribute, CUfunction stub)
    __attribute__((visibility("hidden")));

/* If `module` came from __hipRegisterFatBinary, finds its global of this name (or an error in `result`) and
 * returns true. hipModuleGetGlobal knows only modules that the program loaded. */
bool nb_hip_registered_global(CUmodule module, const char *name, hipDeviceptr_t *address, size_t *bytes,
                              CUresult *result) __attribute__((visibility("hidden")));

/* ---- launch.c ------------------------------------------------------------------------------------------ */

enum { NB_HIP_PACKED_MAX = 9 };

/* Copies CUDA's list of packed parameters to `into`, with HIP's end mark 3 instead of CUDA's 0. Returns NULL
 * for NULL. */
void **nb_hip_packed(void **extra, void *into[NB_HIP_PACKED_MAX]) __attribute__((visibility("hidden")));

/* ---- copy.c -------------------------------------------------------------------------------------------- */

/* Return false for copies that HIP cannot describe (other kinds of arrays, mipmaps). */
bool nb_hip_copy_of(const CUDA_MEMCPY3D *from, hipMemcpy3DParms *into) __attribute__((visibility("hidden")));
bool nb_hip_copy_to(const hipMemcpy3DParms *from, CUDA_MEMCPY3D *into) __attribute__((visibility("hidden")));

#endif
