// Copies that run beside the threads: cp.async, the pipeline primitives, mbarrier.
#include <cuda_pipeline_primitives.h>

extern "C" __global__ void pipelined_sum(const int *in, int *out, int tiles)
{
    __shared__ int stage[2][64];
    int sum = 0;
    __pipeline_memcpy_async(&stage[0][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles)
            __pipeline_memcpy_async(&stage[(tile + 1) & 1][threadIdx.x], &in[(tile + 1) * 64 + threadIdx.x],
                                    4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += stage[tile & 1][63 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// 16 bytes at once, some of them filled with zeros.
extern "C" __global__ void wide_copies(const int4 *in, int4 *out)
{
    __shared__ int4 stage[32];
    __pipeline_memcpy_async(&stage[threadIdx.x], &in[threadIdx.x], 16, 4 * (threadIdx.x % 4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = stage[threadIdx.x ^ 1];
}

#if __CUDA_ARCH__ >= 800
// The instruction itself, with both cache operators and wait_all.
extern "C" __global__ void copy_instructions(const int4 *wide, const long long *narrow, int4 *out,
                                             long long *moved)
{
    __shared__ int4 big[32];
    __shared__ long long small[32];
    const unsigned to_big = (unsigned)__cvta_generic_to_shared(&big[threadIdx.x]);
    const unsigned to_small = (unsigned)__cvta_generic_to_shared(&small[threadIdx.x]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to_big),
                 "l"(__cvta_generic_to_global(wide + threadIdx.x))
                 : "memory");
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8;" ::"r"(to_small),
                 "l"(__cvta_generic_to_global(narrow + threadIdx.x))
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = big[31 - threadIdx.x];
    moved[threadIdx.x] = small[(threadIdx.x + 5) % 32];
}

// A barrier in shared memory: half of the threads produce, the others wait for the phase to end.
extern "C" __global__ void arrive_and_wait(const int *in, int *out)
{
    __shared__ unsigned long long barrier;
    __shared__ int stage[64];
    const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
    __syncthreads();
    stage[threadIdx.x] = in[threadIdx.x] * 2;
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at) : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(done)
                     : "r"(at), "l"(token)
                     : "memory");
    out[threadIdx.x] = stage[threadIdx.x ^ 33];
}

extern "C" __global__ void copies_arrive(const int *in, int *out)
{
    __shared__ unsigned long long barrier;
    __shared__ int stage[64];
    const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    const unsigned to = (unsigned)__cvta_generic_to_shared(&stage[threadIdx.x]);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to),
                 "l"(__cvta_generic_to_global(in + threadIdx.x))
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.test_wait.parity.shared.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(done)
                     : "r"(at)
                     : "memory");
    out[threadIdx.x] = stage[threadIdx.x ^ 21];
}
#endif

// Named barriers: producers arrive, consumers synchronise.
extern "C" __global__ void named_barriers(const int *in, int *out)
{
    __shared__ int stage[32];
    if (threadIdx.x < 32) {
        stage[threadIdx.x] = in[threadIdx.x] + 5;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x - 32] = stage[63 - threadIdx.x];
    }
}
