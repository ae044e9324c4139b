// One element a thread: arithmetic, vector loads, cache hints, structures by value.

extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __fmaf_rn(a, x[i], y[i]);
}

extern "C" __global__ void grid_stride(int *out, const int *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = 3 * in[i] - i;
}

extern "C" __global__ void grey(const unsigned char *rgb, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
}

extern "C" __global__ void three_axes(int *out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    out[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
}

extern "C" __global__ void vector_loads(const float4 *x, const int2 *y, double2 *out, uchar4 *bytes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 v = x[i];
    const int2 w = y[i];
    out[i] = make_double2((double)v.x + v.y + w.x, (double)v.z - v.w + w.y);
    bytes[i] = make_uchar4(w.x, w.y, w.x >> 8, w.y >> 8);
}

extern "C" __global__ void cache_hints(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int sum =
        __ldg(in + i) + 2 * __ldcg(in + i) + 3 * __ldcs(in + i) + 4 * __ldlu(in + i) + 5 * __ldcv(in + i);
    __stcg(out + 4 * i, sum);
    __stcs(out + 4 * i + 1, sum + 1);
    __stwb(out + 4 * i + 2, sum + 2);
    __stwt(out + 4 * i + 3, sum + 3);
}

extern "C" __global__ void volatile_accesses(volatile int *out, const volatile int *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + in[i];
    out[i] += 1;
    __threadfence_block();
    __threadfence();
    __threadfence_system();
}

extern "C" __global__ void small_types(const signed char *a, const unsigned short *b, const short *c,
                                       long long *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const signed char product = (signed char)(a[i] * 3);
    const unsigned short sum = (unsigned short)(b[i] + 65000);
    const short shifted = (short)(c[i] << 2);
    out[i] = product + 1000LL * sum + 1000000000LL * shifted;
}

struct Inner {
    char tag;
    double weight;
};

struct Options {
    float scale[3];
    Inner inner;
    short offset;
    const int *table;
};

extern "C" __global__ void structure_by_value(Options options, signed char sign, Inner other, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = sign * (options.scale[i % 3] * options.inner.weight + options.inner.tag) + options.offset +
             options.table[i] + other.tag * other.weight;
}
