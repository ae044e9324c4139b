// Source of the PTX beside this file (make.sh), so that tests need no nvcc.
#include <stdint.h>

extern "C" __global__ void grey(const unsigned char *rgb, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
}

extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

#define TILE 16
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        as[threadIdx.y][threadIdx.x] = row < n && t + threadIdx.x < n ? a[row * n + t + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] =
            column < n && t + threadIdx.y < n ? b[(t + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

extern "C" __global__ void reduce(const float *x, float *out, int n)
{
    __shared__ float partial[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    for (int o = 16; o; o /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, o);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        for (int o = 16; o; o /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, o);
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
    }
}

extern "C" __global__ void softmax(const float *x, float *y, int n)
{
    extern __shared__ float row[];
    const float *from = x + (size_t)blockIdx.x * n;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        most = fmaxf(most, row[i] = from[i]);
    for (int o = 16; o; o /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, o));
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += row[i] = __expf(row[i] - most);
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, o);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(size_t)blockIdx.x * n + i] = row[i] / sum;
}

extern "C" __global__ void histogram(const uint32_t *x, uint32_t *bins, int n)
{
    __shared__ uint32_t own[64];
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[x[i] % 64], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        atomicAdd(&bins[i], own[i]);
}

extern "C" __global__ void diverge(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, value = 0;
    if (i >= n)
        return;
    for (int k = 0; k < i % 7; k++)
        value += (k % 3 == 0) ? k * 2 : (k % 3 == 1) ? -k : 5;
    switch (i % 5) {
    case 0:
        value += 100;
        break;
    case 1:
        value *= 3;
        break;
    case 2:
        value -= 7;
        break;
    case 3:
        value ^= 0x55;
        break;
    default:
        value = -value;
    }
    __syncwarp();
    out[i] = value + __popc(__ballot_sync(__activemask(), value & 1)) * 0;
}

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recurse(int *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

__device__ double coefficients[4] = {1.5, -2.25, 0.125, 3.0};
__constant__ float scale = 2.0f;

extern "C" __global__ void polynomial(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double v = x[i], r = coefficients[3];
        for (int k = 2; k >= 0; k--)
            r = r * v + coefficients[k];
        y[i] = r / (1.0 + v * v) * scale + sqrt(v * v + 1.0);
    }
}

extern "C" __global__ void integers(const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i], y = b[i], *o = out + 12 * i;
    unsigned u = x, v = y;
    o[0] = y ? x / y : 0;
    o[1] = y ? x % y : 0;
    o[2] = v ? u / v : 0;
    o[3] = __mulhi(x, y);
    o[4] = __umulhi(u, v);
    o[5] = __popc(u) + __clz(x) * 100 + __brev(u) % 97;
    o[6] = __byte_perm(u, v, 0x4163);
    o[7] = (int)(((long long)x * y) >> 7);
    o[8] = __funnelshift_l(u, v, 9);
    o[9] = min(x, y) - max(x, y);
    o[10] = (x << (y & 15)) ^ (x >> (y & 31)) ^ (u >> (v & 31));
    o[11] = (short)x * (signed char)y + (unsigned char)x;
}

extern "C" __global__ void spin(int *out)
{
    while (atomicAdd(out, 0) == 0)
        ;
}

extern "C" __global__ void outside(int *out)
{
    out[1 << 28] = 1;
}

struct Packed {
    float4 values;
    char tag;
};

extern "C" __global__ void structures(Packed packed, double *out, char c, short s)
{
    out[threadIdx.x] = packed.values.x + packed.values.w * packed.tag + c + s;
}
