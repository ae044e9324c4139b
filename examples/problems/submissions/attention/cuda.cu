/* Each warp computes a row of q. Keys come through shared memory, 32 at a time; each lane computes the score
 * of one key, and the warp updates the maximum, the sum and the weighted rows of v
 * (https://arxiv.org/abs/1805.02867). No tensor cores. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int WIDTH = 64, KEYS = 32, WARPS = 8;
constexpr unsigned ALL = 0xffffffffu;

static __global__ void attention(const __half *q, const __half *k, const __half *v, __half *o, size_t length)
{
    __shared__ float query[WARPS][WIDTH], keys[KEYS][WIDTH + 1], values[KEYS][WIDTH];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t head = blockIdx.y * length * WIDTH, row = blockIdx.x * (size_t)WARPS + warp;
    const bool inside = row < length;
    for (int i = lane; i < WIDTH; i += 32)
        query[warp][i] = inside ? __half2float(q[head + row * WIDTH + i]) * 0.125f : 0;
    float greatest = -INFINITY, sum = 0, low = 0,
          high = 0; /* of o, a lane has columns `lane` and `lane + 32` */
    for (size_t begin = 0; begin < length; begin += KEYS) {
        __syncthreads();
        for (int i = threadIdx.x; i < KEYS * WIDTH; i += WARPS * 32) {
            const size_t key = begin + i / WIDTH, at = head + key * WIDTH + i % WIDTH;
            keys[i / WIDTH][i % WIDTH] = key < length ? __half2float(k[at]) : 0;
            values[i / WIDTH][i % WIDTH] = key < length ? __half2float(v[at]) : 0;
        }
        __syncthreads();
        float score = 0;
        for (int i = 0; i < WIDTH; i++)
            score += query[warp][i] * keys[lane][i];
        if (begin + lane >= length)
            score = -INFINITY;
        float most = score;
        for (int lanes = 16; lanes > 0; lanes /= 2)
            most = fmaxf(most, __shfl_xor_sync(ALL, most, lanes));
        most = fmaxf(most, greatest);
        const float shrink = __expf(greatest - most), weight = __expf(score - most);
        float weights = weight;
        for (int lanes = 16; lanes > 0; lanes /= 2)
            weights += __shfl_xor_sync(ALL, weights, lanes);
        sum = sum * shrink + weights;
        low *= shrink;
        high *= shrink;
        for (int key = 0; key < KEYS; key++) {
            const float part = __shfl_sync(ALL, weight, key);
            low += part * values[key][lane];
            high += part * values[key][lane + 32];
        }
        greatest = most;
    }
    if (inside) {
        o[head + row * WIDTH + lane] = __float2half_rn(low / sum);
        o[head + row * WIDTH + lane + 32] = __float2half_rn(high / sum);
    }
}

extern "C" void solution(const __half *q, const __half *k, const __half *v, __half *o, size_t heads,
                         size_t length)
{
    const dim3 grid((length + WARPS - 1) / WARPS, heads);
    attention<<<grid, WARPS * 32>>>(q, k, v, o, length);
}
