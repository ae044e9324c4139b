/* A block computes a tile of 64 x 64, each thread 4 x 4 of it, in float32. No tensor cores. */
#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE;

static __device__ float at(const __nv_bfloat16 *matrix, size_t row, size_t column, size_t rows,
                           size_t columns)
{
    return row < rows && column < columns ? __bfloat162float(matrix[row * columns + column]) : 0;
}

static __global__ void matmul(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, size_t m,
                              size_t n, size_t k)
{
    __shared__ float left[DEPTH][TILE + 1], right[DEPTH][TILE];
    const size_t top = blockIdx.y * (size_t)TILE, first = blockIdx.x * (size_t)TILE;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    float sums[EACH][EACH] = {};
    for (size_t begin = 0; begin < k; begin += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
            left[i % DEPTH][i / DEPTH] = at(a, top + i / DEPTH, begin + i % DEPTH, m, k);
            right[i / TILE][i % TILE] = at(b, begin + i / TILE, first + i % TILE, k, n);
        }
        __syncthreads();
        for (int step = 0; step < DEPTH; step++) {
            float rows[EACH], columns[EACH];
            for (int i = 0; i < EACH; i++) {
                rows[i] = left[step][y + i * SIDE];
                columns[i] = right[step][x + i * SIDE];
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sums[i][j] += rows[i] * columns[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            const size_t row = top + y + i * SIDE, column = first + x + j * SIDE;
            if (row < m && column < n)
                c[row * n + column] = __float2bfloat16_rn(sums[i][j]);
        }
}

extern "C" void solution(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, size_t m, size_t n,
                         size_t k)
{
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul<<<grid, SIDE * SIDE>>>(a, b, c, m, n, k);
}
