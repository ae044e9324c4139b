// Matrix products: tiles in shared memory with ragged edges, and registers blocked by four.

#define TILE 16

template <typename T> static __device__ void product(const T *a, const T *b, T *c, int m, int n, int k)
{
    __shared__ T left[TILE][TILE], right[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int t = 0; t < k; t += TILE) {
        left[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : T(0);
        right[threadIdx.y][threadIdx.x] =
            t + threadIdx.y < k && column < n ? b[(t + threadIdx.y) * n + column] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

extern "C" __global__ void matmul_float(const float *a, const float *b, float *c, int m, int n, int k)
{
    product(a, b, c, m, n, k);
}

extern "C" __global__ void matmul_double(const double *a, const double *b, double *c, int m, int n, int k)
{
    product(a, b, c, m, n, k);
}

extern "C" __global__ void matmul_int(const int *a, const int *b, int *c, int m, int n, int k)
{
    product(a, b, c, m, n, k);
}

// 32x32 of the result a block of 8x8 threads; 16 sums a thread in registers. n is a multiple of 32.
extern "C" __global__ void matmul_blocked(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[32][8], right[8][32];
    const int thread = threadIdx.y * 8 + threadIdx.x;
    float sums[4][4] = {};
    for (int t = 0; t < n; t += 8) {
        for (int i = thread; i < 256; i += 64) {
            left[i / 8][i % 8] = a[(blockIdx.y * 32 + i / 8) * n + t + i % 8];
            right[i / 32][i % 32] = b[(t + i / 32) * n + blockIdx.x * 32 + i % 32];
        }
        __syncthreads();
        for (int k = 0; k < 8; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sums[i][j] += left[threadIdx.y * 4 + i][k] * right[k][threadIdx.x * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *(float4 *)&c[(blockIdx.y * 32 + threadIdx.y * 4 + i) * n + blockIdx.x * 32 + threadIdx.x * 4] =
            make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}
