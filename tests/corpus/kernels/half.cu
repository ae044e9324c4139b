// Half precision, one and two at a time.
#include <cuda_fp16.h>

#define THREAD const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void half_arithmetic(const __half *a, const __half *b, const __half *c, __half *out)
{
    THREAD;
    const __half x = a[i], y = b[i], z = c[i];
    out[10 * i] = __hadd_rn(x, y);
    out[10 * i + 1] = __hsub_rn(x, y);
    out[10 * i + 2] = __hmul_rn(x, y);
    out[10 * i + 3] = __hfma(x, y, z);
    out[10 * i + 4] = __hneg(x);
    out[10 * i + 5] = __habs(x);
    out[10 * i + 6] = __hmin(x, y);
    out[10 * i + 7] = __hmax(x, y);
    out[10 * i + 8] = __hadd_sat(x, y);
    out[10 * i + 9] = __hfma_sat(x, y, z);
}

extern "C" __global__ void half2_arithmetic(const __half2 *a, const __half2 *b, const __half2 *c,
                                            __half2 *out)
{
    THREAD;
    const __half2 x = a[i], y = b[i], z = c[i];
    out[8 * i] = __hadd2_rn(x, y);
    out[8 * i + 1] = __hsub2_rn(x, y);
    out[8 * i + 2] = __hmul2_rn(x, y);
    out[8 * i + 3] = __hfma2(x, y, z);
    out[8 * i + 4] = __hneg2(x);
    out[8 * i + 5] = __hmin2(x, y);
    out[8 * i + 6] = __lows2half2(x, y);
    out[8 * i + 7] = __lowhigh2highlow(x);
}

extern "C" __global__ void half_compare(const __half2 *a, const __half2 *b, unsigned *out)
{
    THREAD;
    const __half2 x = a[i], y = b[i];
    const __half low = __low2half(x), other = __low2half(y);
    out[4 * i] = __heq(low, other) + 2 * __hlt(low, other) + 4 * __hge(low, other) + 8 * __hltu(low, other) +
                 16 * __hneu(low, other) + 32 * __hisnan(low) + 64 * (__hisinf(low) + 1);
    out[4 * i + 1] = __hbgt2(x, y) + 2 * __hble2(x, y);
    out[4 * i + 2] = __hlt2_mask(x, y);
    out[4 * i + 3] = __heq2_mask(x, y);
}

extern "C" __global__ void half_convert(const float *in, const int *whole, __half *out, float *back,
                                        int *ints)
{
    THREAD;
    out[8 * i] = __float2half_rn(in[i]);
    out[8 * i + 1] = __float2half_rz(in[i]);
    out[8 * i + 2] = __float2half_ru(in[i]);
    out[8 * i + 3] = __float2half_rd(in[i]);
    out[8 * i + 4] = __int2half_rn(whole[i]);
    out[8 * i + 5] = __ushort2half_rn((unsigned short)whole[i]);
    out[8 * i + 6] = hrint(out[8 * i]);
    out[8 * i + 7] = __double2half(in[i] * 1.0000001);
    back[i] = __half2float(out[8 * i]);
    ints[3 * i] = __half2int_rn(out[8 * i]);
    ints[3 * i + 1] = __half2uint_rz(out[8 * i]);
    ints[3 * i + 2] = __half2short_rd(out[8 * i]);
}

extern "C" __global__ void half_pack(const float2 *in, __half2 *out, float2 *back)
{
    THREAD;
    const __half2 both = __float22half2_rn(in[i]);
    out[i] = both;
    back[i] = __half22float2(__halves2half2(__high2half(both), __low2half(both)));
}

extern "C" __global__ void half_math(const __half *in, __half *out)
{
    THREAD;
    const __half x = in[i];
    out[8 * i] = hsqrt(x);
    out[8 * i + 1] = hrsqrt(x);
    out[8 * i + 2] = hrcp(x);
    out[8 * i + 3] = hexp(x);
    out[8 * i + 4] = hlog(x);
    out[8 * i + 5] = hsin(x);
    out[8 * i + 6] = hcos(x);
    out[8 * i + 7] = __hdiv(x, __float2half(3.0f));
}

// The C++ operators, which may contract.
extern "C" __global__ void half_axpy(__half a, const __half2 *x, __half2 *y)
{
    THREAD;
    y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}
