// Every atomic on every type that has it, in global and in shared memory. Values that the order of the
// threads would change (the old values) is checked by what must be true of all of them together.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define THREAD const int i = blockIdx.x * blockDim.x + threadIdx.x

template <typename T> static __device__ void whole(const T *in, T *out)
{
    THREAD;
    const T x = in[i];
    atomicAdd(&out[0], x);
    atomicMin(&out[1], x);
    atomicMax(&out[2], x);
    atomicAnd(&out[3], x | 0xf0);
    atomicOr(&out[4], x & 0x5555);
    atomicXor(&out[5], x);
}

extern "C" __global__ void atomics_int(const int *in, int *out)
{
    whole(in, out);
    atomicSub(&out[6], in[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void atomics_unsigned(const unsigned *in, unsigned *out)
{
    whole(in, out);
    atomicInc(&out[6], 9);
    atomicDec(&out[7], 12);
}

extern "C" __global__ void atomics_unsigned_long(const unsigned long long *in, unsigned long long *out)
{
    whole(in, out);
}

extern "C" __global__ void atomics_long(const long long *in, long long *out)
{
    THREAD;
    atomicMin(&out[0], in[i]);
    atomicMax(&out[1], in[i]);
    atomicAnd((unsigned long long *)&out[2], (unsigned long long)in[i]);
    atomicXor((unsigned long long *)&out[3], (unsigned long long)in[i]);
}

extern "C" __global__ void atomics_shared(const int *in, int *out)
{
    __shared__ int cells[8];
    __shared__ unsigned long long wide[2];
    __shared__ float real;
    THREAD;
    if (threadIdx.x < 8)
        cells[threadIdx.x] = threadIdx.x == 3 ? -1 : threadIdx.x == 1 ? 1000000 : 0;
    if (threadIdx.x < 2)
        wide[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        real = 0;
    __syncthreads();
    whole(in, cells);
    atomicInc((unsigned *)&cells[6], 6);
    atomicAdd(&wide[0], (unsigned long long)in[i] << 30);
    atomicMax(&wide[1], (unsigned long long)in[i] << 33);
    atomicAdd(&real, (float)(in[i] & 15));
    __syncthreads();
    if (threadIdx.x < 7)
        out[blockIdx.x * 10 + threadIdx.x] = cells[threadIdx.x];
    if (threadIdx.x == 7) {
        out[blockIdx.x * 10 + 7] = (int)(wide[0] >> 30);
        out[blockIdx.x * 10 + 8] = (int)(wide[1] >> 33);
        out[blockIdx.x * 10 + 9] = (int)real;
    }
}

// The old values of atomicAdd are all different; exchange hands every value on exactly once.
extern "C" __global__ void atomics_old(int *counter, int *seen, int *slot, int *handed)
{
    THREAD;
    seen[atomicAdd(counter, 1)]++;
    const int got = atomicExch(slot, i);
    if (got >= 0)
        atomicAdd(&handed[got], 1);
}

extern "C" __global__ void atomics_exchange(float *real, unsigned long long *wide, int *out)
{
    THREAD;
    atomicExch(&real[i], i * 0.5f);
    atomicExch(&wide[i], 1ull << (i % 64));
    out[i] = atomicCAS(&out[i], i % 5, -i);
    out[i] += (int)atomicCAS(&wide[i], 8ull, 64ull);
}

extern "C" __global__ void atomics_cas_16(unsigned short *cells)
{
    THREAD;
    unsigned short old = cells[i % 6], expected;
    do {
        expected = old;
        old = atomicCAS(&cells[i % 6], expected, (unsigned short)(expected * 2 + 1));
    } while (old != expected);
}

// A product by compare and swap: what older devices did for what they lacked.
extern "C" __global__ void atomics_cas_loop(const unsigned *in, unsigned *product, unsigned long long *sum)
{
    THREAD;
    unsigned old = *product, expected;
    do {
        expected = old;
        old = atomicCAS(product, expected, expected * (in[i] | 1));
    } while (old != expected);
    unsigned long long before = *sum, assumed;
    do {
        assumed = before;
        before = atomicCAS(sum, assumed, assumed + in[i]);
    } while (before != assumed);
}

extern "C" __global__ void atomics_real(const float *in, const double *wide, float *out, double *out_wide)
{
    THREAD;
    atomicAdd(out, in[i]);
    atomicAdd(out_wide, wide[i]);
}

// Small whole numbers, so that no order of the sums can round.
extern "C" __global__ void atomics_half(const int *in, __half2 *pair, __half *one)
{
    THREAD;
    atomicAdd(&pair[i % 4], __floats2half2_rn(in[i] & 3, in[i] & 7));
    atomicAdd(&one[i % 5], __float2half(in[i] & 3));
}

extern "C" __global__ void atomics_bfloat(const int *in, __nv_bfloat162 *pair, __nv_bfloat16 *one)
{
    THREAD;
    atomicAdd(&pair[i % 16], __floats2bfloat162_rn(in[i] & 3, in[i] & 7));
    atomicAdd(&one[i % 17], __float2bfloat16(in[i] & 3));
}

extern "C" __global__ void atomics_scopes(const int *in, int *out)
{
    THREAD;
    atomicAdd_system(&out[0], in[i]);
    atomicAdd_block(&out[1 + blockIdx.x], in[i]);
    atomicMax_system(&out[7], in[i]);
}

// Release and acquire by name: a message is passed between blocks.
extern "C" __global__ void release_acquire(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 3 * threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0)
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(flag)), "r"(1)
                         : "memory");
    } else {
        int ready = 0;
        while (!ready)
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(ready)
                         : "l"(__cvta_generic_to_global(flag))
                         : "memory");
        out[threadIdx.x] = data[threadIdx.x] + 1;
    }
}

extern "C" __global__ void red_instructions(const int *in, int *out)
{
    THREAD;
    asm volatile("red.global.add.s32 [%0], %1;" ::"l"(__cvta_generic_to_global(out)), "r"(in[i]) : "memory");
    asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(out + 1)),
                 "r"(in[i])
                 : "memory");
    asm volatile("red.global.max.s32 [%0], %1;" ::"l"(__cvta_generic_to_global(out + 2)), "r"(in[i])
                 : "memory");
}
