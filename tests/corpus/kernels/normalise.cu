// Row-wise softmax, layer normalisation and their like: reductions between float math.

#define HUGE __int_as_float(0x7f800000) // infinity, without a header

static __device__ float block_reduce(float value, bool largest)
{
    __shared__ float partial[32];
    __syncthreads();
    for (int offset = 16; offset > 0; offset /= 2) {
        const float other = __shfl_xor_sync(~0u, value, offset);
        value = largest ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = partial[0];
    for (int i = 1; i < blockDim.x / 32; i++)
        value = largest ? fmaxf(value, partial[i]) : value + partial[i];
    return value;
}

extern "C" __global__ void softmax(const float *in, float *out, int n)
{
    extern __shared__ float row[];
    in += blockIdx.x * n;
    float most = -HUGE, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        most = fmaxf(most, in[i]);
    most = block_reduce(most, true);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        row[i] = expf(in[i] - most);
        sum += row[i];
    }
    sum = block_reduce(sum, false);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = row[i] / sum;
}

// One pass: the running maximum and the sum that belongs to it.
extern "C" __global__ void online_softmax(const float *in, float *out, int n)
{
    in += blockIdx.x * n;
    float most = -HUGE, sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        const float larger = fmaxf(most, in[i]);
        sum = sum * __expf(most - larger) + __expf(in[i] - larger);
        most = larger;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        const float there = __shfl_xor_sync(~0u, most, offset), sum_there = __shfl_xor_sync(~0u, sum, offset);
        const float larger = fmaxf(most, there);
        sum = sum * __expf(most - larger) + sum_there * __expf(there - larger);
        most = larger;
    }
    for (int i = threadIdx.x; i < n; i += 32)
        out[blockIdx.x * n + i] = __fdividef(__expf(in[i] - most), sum);
}

extern "C" __global__ void layer_norm(const float *in, const float *gain, const float *bias, float *out,
                                      int n)
{
    in += blockIdx.x * n;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    const float mean = block_reduce(sum, false) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        squares += (in[i] - mean) * (in[i] - mean);
    const float scale = rsqrtf(block_reduce(squares, false) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = (in[i] - mean) * scale * gain[i] + bias[i];
}

extern "C" __global__ void gelu(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}
