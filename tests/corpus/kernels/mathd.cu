// The double functions of CUDA's math library.

#define ONE(name, expression)                                                                                \
    extern "C" __global__ void name(const double *in, double *out)                                           \
    {                                                                                                        \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                 \
        const double x = in[i];                                                                              \
        out[i] = expression;                                                                                 \
    }
#define TWO(name, expression)                                                                                \
    extern "C" __global__ void name(const double *a, const double *b, double *out)                           \
    {                                                                                                        \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                 \
        const double x = a[i], y = b[i];                                                                     \
        out[i] = expression;                                                                                 \
    }

ONE(sqrt_d, sqrt(x))
ONE(rsqrt_d, rsqrt(x))
ONE(cbrt_d, cbrt(x))
ONE(sin_d, sin(x))
ONE(cos_d, cos(x))
ONE(tan_d, tan(x))
ONE(asin_d, asin(x))
ONE(acos_d, acos(x))
ONE(atan_d, atan(x))
ONE(sinh_d, sinh(x))
ONE(cosh_d, cosh(x))
ONE(tanh_d, tanh(x))
ONE(exp_d, exp(x))
ONE(exp2_d, exp2(x))
ONE(expm1_d, expm1(x))
ONE(log_d, log(x))
ONE(log2_d, log2(x))
ONE(log10_d, log10(x))
ONE(log1p_d, log1p(x))
ONE(erf_d, erf(x))
ONE(erfc_d, erfc(x))
TWO(pow_d, pow(x, y))
TWO(atan2_d, atan2(x, y))
TWO(hypot_d, hypot(x, y))
TWO(fmod_d, fmod(x, y))
TWO(divide_d, x / y)

extern "C" __global__ void pieces_d(const double *in, double *out, int *exponents)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[3 * i] = frexp(in[i], &exponents[i]);
    out[3 * i + 1] = scalbn(in[i], i % 60 - 30);
    double whole;
    out[3 * i + 2] = modf(in[i], &whole) - whole;
}
