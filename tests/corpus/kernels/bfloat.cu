// bfloat16, one and two at a time.
#include <cuda_bf16.h>

#define THREAD const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void bfloat_arithmetic(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                             __nv_bfloat16 *out)
{
    THREAD;
    const __nv_bfloat16 x = a[i], y = b[i];
    out[7 * i] = __hadd_rn(x, y);
    out[7 * i + 1] = __hsub_rn(x, y);
    out[7 * i + 2] = __hmul_rn(x, y);
    out[7 * i + 3] = __hneg(x);
    out[7 * i + 4] = __habs(x);
    out[7 * i + 5] = __hmin(x, y);
    out[7 * i + 6] = __hmax(x, y);
}

extern "C" __global__ void bfloat2_arithmetic(const __nv_bfloat162 *a, const __nv_bfloat162 *b,
                                              __nv_bfloat162 *out)
{
    THREAD;
    const __nv_bfloat162 x = a[i], y = b[i];
    out[4 * i] = __hadd2_rn(x, y);
    out[4 * i + 1] = __hsub2_rn(x, y);
    out[4 * i + 2] = __hmul2_rn(x, y);
    out[4 * i + 3] = __hmax2(x, y);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void bfloat_fused(const __nv_bfloat162 *a, const __nv_bfloat162 *b,
                                        const __nv_bfloat162 *c, __nv_bfloat162 *out)
{
    THREAD;
    const __nv_bfloat162 x = a[i], y = b[i], z = c[i];
    out[4 * i] = __hfma2(x, y, z);
    out[4 * i + 1] = __hfma2_relu(x, y, z);
    out[4 * i + 2] = __hfma2_sat(x, y, z);
    out[4 * i + 3] = __halves2bfloat162(__hfma(x.x, y.y, z.x), __hfma_relu(x.y, y.x, z.y));
}
#endif

extern "C" __global__ void bfloat_compare(const __nv_bfloat162 *a, const __nv_bfloat162 *b, unsigned *out)
{
    THREAD;
    const __nv_bfloat162 x = a[i], y = b[i];
    const __nv_bfloat16 low = __low2bfloat16(x), other = __low2bfloat16(y);
    out[3 * i] = __heq(low, other) + 2 * __hlt(low, other) + 4 * __hge(low, other) + 8 * __hltu(low, other) +
                 16 * __hneu(low, other) + 32 * __hisnan(low);
    out[3 * i + 1] = __hbgt2(x, y) + 2 * __hble2(x, y);
    out[3 * i + 2] = __hlt2_mask(x, y);
}

extern "C" __global__ void bfloat_convert(const float *in, const int *whole, __nv_bfloat16 *out, float *back,
                                          int *ints)
{
    THREAD;
    out[6 * i] = __float2bfloat16_rn(in[i]);
    out[6 * i + 1] = __float2bfloat16_rz(in[i]);
    out[6 * i + 2] = __float2bfloat16_ru(in[i]);
    out[6 * i + 3] = __float2bfloat16_rd(in[i]);
    out[6 * i + 4] = __int2bfloat16_rn(whole[i]);
    out[6 * i + 5] = __double2bfloat16(in[i] * 1.0000001);
    back[i] = __bfloat162float(out[6 * i]);
    ints[2 * i] = __bfloat162int_rn(out[6 * i]);
    ints[2 * i + 1] = __bfloat162int_rz(out[6 * i]);
}

extern "C" __global__ void bfloat_pack(const float2 *in, __nv_bfloat162 *out, float2 *back)
{
    THREAD;
    const __nv_bfloat162 both = __float22bfloat162_rn(in[i]);
    out[i] = both;
    back[i] = __bfloat1622float2(__lowhigh2highlow(both));
}

extern "C" __global__ void bfloat_math(const __nv_bfloat16 *in, __nv_bfloat16 *out)
{
    THREAD;
    const __nv_bfloat16 x = in[i];
    out[6 * i] = hsqrt(x);
    out[6 * i + 1] = hrcp(x);
    out[6 * i + 2] = hexp(x);
    out[6 * i + 3] = hlog(x);
    out[6 * i + 4] = hcos(x);
    out[6 * i + 5] = __hdiv(x, __float2bfloat16(3.0f));
}
