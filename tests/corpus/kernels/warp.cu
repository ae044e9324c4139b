// Communication between the lanes of a warp.

extern "C" __global__ void shuffles(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, value = in[i];
    out[6 * i] = __shfl_up_sync(~0u, value, 3);
    out[6 * i + 1] = __shfl_down_sync(~0u, value, 5);
    out[6 * i + 2] = __shfl_xor_sync(~0u, value, 9);
    out[6 * i + 3] = __shfl_sync(~0u, value, lane * 7 + 2);
    out[6 * i + 4] = __shfl_up_sync(~0u, value, 2, 8);
    out[6 * i + 5] = __shfl_down_sync(~0u, value, 3, 16) + __shfl_xor_sync(~0u, value, 5, 4) +
                     __shfl_sync(~0u, value, 11, 8);
}

extern "C" __global__ void wide_shuffles(const double *in, const long long *words, double *out,
                                         long long *moved)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __shfl_xor_sync(~0u, in[i], 1);
    moved[i] = __shfl_sync(~0u, words[i], 31 - threadIdx.x % 32);
}

extern "C" __global__ void votes(const int *in, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, value = in[i];
    out[4 * i] = __ballot_sync(~0u, value & 1);
    out[4 * i + 1] = __all_sync(~0u, value > 4) != 0;
    out[4 * i + 2] = __any_sync(~0u, value > 95) != 0;
    out[4 * i + 3] = __match_any_sync(~0u, value % 5);
}

extern "C" __global__ void matches(const unsigned long long *in, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int same;
    out[3 * i] = __match_any_sync(~0u, in[i] >> 40);
    out[3 * i + 1] = __match_all_sync(~0u, in[i] >> 40, &same);
    out[3 * i + 2] = same;
}

// Half a warp asks while the other half does other things.
extern "C" __global__ void partial_masks(const int *in, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned found;
    if (lane < 12)
        found = __ballot_sync(0xfffu, in[i] & 1) + __shfl_sync(0xfffu, in[i], 3);
    else if (lane % 2)
        found = __ballot_sync(0xaaaaa000u, in[i] & 2) + __shfl_xor_sync(0xaaaaa000u, in[i], 0);
    else
        found = __any_sync(0x55555000u, in[i] == 7) ? 1 : 2;
    __syncwarp();
    out[i] = found;
}

extern "C" __global__ void special_registers(unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane, warps, smaller, larger, equal;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(smaller));
    asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(larger));
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(equal));
    asm volatile("mov.u32 %0, %%nctaid.x;" : "=r"(warps));
    out[6 * i] = lane;
    out[6 * i + 1] = smaller;
    out[6 * i + 2] = larger;
    out[6 * i + 3] = equal;
    out[6 * i + 4] = warps;
    out[6 * i + 5] = warpSize;
}
