// Operations that are rounded exactly once: their results have one right answer, bit for bit.

#define THREAD const int i = blockIdx.x * blockDim.x + threadIdx.x
#define EACH(operation, ...)                                                                                 \
    out[4 * i] = operation##_rn(__VA_ARGS__);                                                                \
    out[4 * i + 1] = operation##_rz(__VA_ARGS__);                                                            \
    out[4 * i + 2] = operation##_ru(__VA_ARGS__);                                                            \
    out[4 * i + 3] = operation##_rd(__VA_ARGS__)
#define ONE(name, type, operation, x)                                                                        \
    extern "C" __global__ void name(const type *a, type *out)                                                \
    {                                                                                                        \
        THREAD;                                                                                              \
        EACH(operation, x);                                                                                  \
    }
#define TWO(name, type, operation)                                                                           \
    extern "C" __global__ void name(const type *a, const type *b, type *out)                                 \
    {                                                                                                        \
        THREAD;                                                                                              \
        EACH(operation, a[i], b[i]);                                                                         \
    }
#define THREE(name, type, operation)                                                                         \
    extern "C" __global__ void name(const type *a, const type *b, const type *c, type *out)                  \
    {                                                                                                        \
        THREAD;                                                                                              \
        EACH(operation, a[i], b[i], c[i]);                                                                   \
    }

TWO(add_float, float, __fadd)
TWO(multiply_float, float, __fmul)
THREE(fma_float, float, __fmaf)
TWO(divide_float, float, __fdiv)
ONE(reciprocal_float, float, __frcp, a[i])
ONE(root_float, float, __fsqrt, a[i])
TWO(add_double, double, __dadd)
TWO(multiply_double, double, __dmul)
THREE(fma_double, double, __fma)
TWO(divide_double, double, __ddiv)
ONE(reciprocal_double, double, __drcp, a[i])
ONE(root_double, double, __dsqrt, a[i])

extern "C" __global__ void double_to_float(const double *in, float *out)
{
    THREAD;
    EACH(__double2float, in[i]);
}

extern "C" __global__ void float_to_int(const float *in, int *out)
{
    THREAD;
    EACH(__float2int, in[i]);
}

extern "C" __global__ void float_to_unsigned(const float *in, unsigned *out)
{
    THREAD;
    EACH(__float2uint, in[i]);
}

extern "C" __global__ void double_to_long(const double *in, long long *out)
{
    THREAD;
    EACH(__double2ll, in[i]);
}

extern "C" __global__ void double_to_unsigned_long(const double *in, unsigned long long *out)
{
    THREAD;
    EACH(__double2ull, in[i]);
}

extern "C" __global__ void int_to_float(const int *in, float *out)
{
    THREAD;
    EACH(__int2float, in[i]);
}

extern "C" __global__ void unsigned_long_to_float(const unsigned long long *in, float *out)
{
    THREAD;
    EACH(__ull2float, in[i]);
}

extern "C" __global__ void long_to_double(const long long *in, double *out)
{
    THREAD;
    EACH(__ll2double, in[i]);
}

extern "C" __global__ void round_to_whole(const float *in, float *out)
{
    THREAD;
    out[5 * i] = floorf(in[i]);
    out[5 * i + 1] = ceilf(in[i]);
    out[5 * i + 2] = truncf(in[i]);
    out[5 * i + 3] = rintf(in[i]);
    out[5 * i + 4] = roundf(in[i]);
}

extern "C" __global__ void round_to_whole_double(const double *in, double *out)
{
    THREAD;
    out[5 * i] = floor(in[i]);
    out[5 * i + 1] = ceil(in[i]);
    out[5 * i + 2] = trunc(in[i]);
    out[5 * i + 3] = rint(in[i]);
    out[5 * i + 4] = round(in[i]);
}

// Not a number, infinities, signed zeros: which way do comparisons, minimum and maximum go.
extern "C" __global__ void special_values(const float *a, const float *b, float *out, int *compared)
{
    THREAD;
    const float x = a[i], y = b[i];
    out[4 * i] = fminf(x, y);
    out[4 * i + 1] = fmaxf(x, y);
    out[4 * i + 2] = copysignf(x, y);
    out[4 * i + 3] = __saturatef(x);
    compared[i] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * !(x > y) + 32 * !(x >= y) +
                  64 * (isnan(x) != 0) + 128 * (isinf(x) != 0) + 256 * (isfinite(y) != 0) +
                  512 * (signbit(x) != 0);
}

extern "C" __global__ void bit_casts(const float *x, const double *y, int *out, double *joined)
{
    THREAD;
    out[3 * i] = __float_as_int(x[i]);
    out[3 * i + 1] = __double2hiint(y[i]);
    out[3 * i + 2] = __double2loint(y[i]);
    joined[i] = __hiloint2double(__double2hiint(y[i]), __float_as_int(x[i]));
}

// Subnormal results are kept by the plain instructions and lost by those with .ftz.
extern "C" __global__ void flush_to_zero(const float *a, const float *b, float *out)
{
    THREAD;
    float kept, lost;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(kept) : "f"(a[i]), "f"(b[i]));
    asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(lost) : "f"(a[i]), "f"(b[i]));
    out[4 * i] = kept;
    out[4 * i + 1] = lost;
    asm("add.rn.ftz.f32 %0, %1, %2;" : "=f"(lost) : "f"(a[i]), "f"(b[i]));
    out[4 * i + 2] = lost;
    asm("fma.rn.ftz.sat.f32 %0, %1, %2, %1;" : "=f"(lost) : "f"(a[i]), "f"(b[i]));
    out[4 * i + 3] = lost;
}
