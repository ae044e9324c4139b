/* Modelled on hip/nvidia_detail/nvidia_hip_runtime.h of HIP 5.2, which defines HIP by CUDA, plus the parts
 * that AMD's compiler has built in: fixed-width integers, warp functions without a mask, clocks, some clang
 * builtins. */
#include "hip/hiprtc_headers.h"

static const char runtime[] =
    "#pragma once\n"
    "#define __HIP_PLATFORM_NVIDIA__ 1\n"
    "#define __HIP_PLATFORM_NVCC__ 1\n"
    "#define __HIP_DEVICE_COMPILE__ 1\n"
    "#define __HIPCC__ 1\n"
    "#define __HIPCC_RTC__ 1\n"
    "#define HIP_KERNEL_NAME(...) __VA_ARGS__\n"
    "#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];\n"
    "#define HIP_DYNAMIC_SHARED_ATTRIBUTE\n"
    "#define hipThreadIdx_x threadIdx.x\n"
    "#define hipThreadIdx_y threadIdx.y\n"
    "#define hipThreadIdx_z threadIdx.z\n"
    "#define hipBlockIdx_x blockIdx.x\n"
    "#define hipBlockIdx_y blockIdx.y\n"
    "#define hipBlockIdx_z blockIdx.z\n"
    "#define hipBlockDim_x blockDim.x\n"
    "#define hipBlockDim_y blockDim.y\n"
    "#define hipBlockDim_z blockDim.z\n"
    "#define hipGridDim_x gridDim.x\n"
    "#define hipGridDim_y gridDim.y\n"
    "#define hipGridDim_z gridDim.z\n"
    "typedef signed char int8_t;\n"
    "typedef unsigned char uint8_t;\n"
    "typedef short int16_t;\n"
    "typedef unsigned short uint16_t;\n"
    "typedef int int32_t;\n"
    "typedef unsigned int uint32_t;\n"
    "typedef long int64_t;\n"
    "typedef unsigned long uint64_t;\n"
    /* wall_clock64 has a constant rate on AMD GPUs; here it counts nanoseconds. */
    "static __device__ __forceinline__ long long wall_clock64()\n"
    "{\n"
    "    long long now;\n"
    "    asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(now));\n"
    "    return now;\n"
    "}\n"
    "static __device__ __forceinline__ unsigned int __lane_id()\n"
    "{\n"
    "    unsigned int lane;\n"
    "    asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n"
    "    return lane;\n"
    "}\n"
    "static __device__ __forceinline__ unsigned int __smid()\n"
    "{\n"
    "    unsigned int number;\n"
    "    asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(number));\n"
    "    return number;\n"
    "}\n"
    "#define __clock() clock()\n"
    "#define __clock64() clock64()\n"
    /* HIP's warp functions use the active lanes; CUDA's take a mask. */
    "#define __shfl(...) __shfl_sync(__activemask(), __VA_ARGS__)\n"
    "#define __shfl_up(...) __shfl_up_sync(__activemask(), __VA_ARGS__)\n"
    "#define __shfl_down(...) __shfl_down_sync(__activemask(), __VA_ARGS__)\n"
    "#define __shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)\n"
    "#define __any(predicate) __any_sync(__activemask(), predicate)\n"
    "#define __all(predicate) __all_sync(__activemask(), predicate)\n"
    "#define __ballot(predicate) ((unsigned long long)__ballot_sync(__activemask(), predicate))\n"
    "#define __builtin_nontemporal_load(from) __ldcs(from)\n"
    "#define __builtin_nontemporal_store(value, to) __stcs(to, value)\n"
    "#define __builtin_amdgcn_s_memtime() ((unsigned long long)clock64())\n"
    "#define __builtin_amdgcn_s_memrealtime() ((unsigned long long)wall_clock64())\n"
    "#define __builtin_amdgcn_s_sleep(ticks) __nanosleep(64 * (ticks))\n"
    "#define __builtin_amdgcn_s_barrier() __syncthreads()\n"
    "#define unsafeAtomicAdd(to, value) atomicAdd(to, value)\n";

#define RUNTIME_ONLY "#pragma once\n#include <" HIPRTC_PRELUDE ">\n"

const struct hiprtc_header hiprtc_headers[] = {
    {HIPRTC_PRELUDE, runtime},
    {"hip/hip_runtime_api.h", RUNTIME_ONLY},
    {"hip/hip_vector_types.h", RUNTIME_ONLY},
    {"hip/math_functions.h", RUNTIME_ONLY},
    {"hip/device_functions.h", RUNTIME_ONLY},
    {"hip/hip_fp16.h", "#pragma once\n#include <cuda_fp16.h>\n"},
    {"hip/hip_bf16.h", "#pragma once\n#include <cuda_bf16.h>\ntypedef __nv_bfloat16 __hip_bfloat16;\ntypedef "
                       "__nv_bfloat162 __hip_bfloat162;\n"},
    {"hip/hip_cooperative_groups.h", "#pragma once\n#include <cooperative_groups.h>\n"},
    {"stdint.h", RUNTIME_ONLY},
    {"cstdint", RUNTIME_ONLY},
};
const size_t hiprtc_header_count = sizeof hiprtc_headers / sizeof *hiprtc_headers;
