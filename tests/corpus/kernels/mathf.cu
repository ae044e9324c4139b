// The float functions of CUDA's math library, and the approximate ones that the hardware has.

#define ONE(name, expression)                                                                                \
    extern "C" __global__ void name(const float *in, float *out)                                             \
    {                                                                                                        \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                 \
        const float x = in[i];                                                                               \
        out[i] = expression;                                                                                 \
    }
#define TWO(name, expression)                                                                                \
    extern "C" __global__ void name(const float *a, const float *b, float *out)                              \
    {                                                                                                        \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                 \
        const float x = a[i], y = b[i];                                                                      \
        out[i] = expression;                                                                                 \
    }

ONE(sqrt_f, sqrtf(x))
ONE(rsqrt_f, rsqrtf(x))
ONE(cbrt_f, cbrtf(x))
ONE(sin_f, sinf(x))
ONE(cos_f, cosf(x))
ONE(tan_f, tanf(x))
ONE(asin_f, asinf(x))
ONE(acos_f, acosf(x))
ONE(atan_f, atanf(x))
ONE(sinh_f, sinhf(x))
ONE(cosh_f, coshf(x))
ONE(tanh_f, tanhf(x))
ONE(exp_f, expf(x))
ONE(exp2_f, exp2f(x))
ONE(expm1_f, expm1f(x))
ONE(log_f, logf(x))
ONE(log2_f, log2f(x))
ONE(log10_f, log10f(x))
ONE(log1p_f, log1pf(x))
ONE(erf_f, erff(x))
ONE(erfc_f, erfcf(x))
ONE(tgamma_f, tgammaf(x))
ONE(lgamma_f, lgammaf(x))
TWO(pow_f, powf(x, y))
TWO(atan2_f, atan2f(x, y))
TWO(hypot_f, hypotf(x, y))
TWO(fmod_f, fmodf(x, y))
TWO(remainder_f, remainderf(x, y))
TWO(divide_f, x / y)

ONE(fast_sin, __sinf(x))
ONE(fast_cos, __cosf(x))
ONE(fast_exp, __expf(x))
ONE(fast_exp10, __exp10f(x))
ONE(fast_log, __logf(x))
ONE(fast_log2, __log2f(x))
ONE(fast_rsqrt, __frsqrt_rn(x))
TWO(fast_pow, __powf(x, y))
TWO(fast_divide, __fdividef(x, y))

#define APPROXIMATE(name, instruction)                                                                       \
    extern "C" __global__ void name(const float *in, float *out)                                             \
    {                                                                                                        \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                 \
        asm(instruction " %0, %1;" : "=f"(out[i]) : "f"(in[i]));                                             \
    }

APPROXIMATE(approx_rcp, "rcp.approx.ftz.f32")
APPROXIMATE(approx_sqrt, "sqrt.approx.f32")
APPROXIMATE(approx_tanh, "tanh.approx.f32")

extern "C" __global__ void pieces_f(const float *in, float *out, int *exponents)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int exponent;
    out[5 * i] = frexpf(in[i], &exponent);
    exponents[2 * i] = exponent;
    exponents[2 * i + 1] = ilogbf(in[i]);
    out[5 * i + 1] = ldexpf(in[i], i % 40 - 20);
    out[5 * i + 2] = modff(in[i], &out[5 * i + 3]);
    out[5 * i + 4] = nextafterf(in[i], 0);
}

extern "C" __global__ void sincos_f(const float *in, float *sines, float *cosines)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sincosf(in[i], &sines[i], &cosines[i]);
}
