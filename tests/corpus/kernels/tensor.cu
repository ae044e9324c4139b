// Matrix products by a warp: wmma, mma.sync on every type, ldmatrix.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_half(const __half *a, const __half *b, const float *c, float *d)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::load_matrix_sync(sum, c, 16, wmma::mem_row_major);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}

// Sums in half precision.
extern "C" __global__ void wmma_half_half(const __half *a, const __half *b, __half *d)
{
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __half, wmma::col_major> left;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 32, 8, 16, __half> sum;
    wmma::load_matrix_sync(left, a, 32);
    wmma::load_matrix_sync(right, b, 8);
    wmma::fill_fragment(sum, __float2half(1.0f));
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, 32, wmma::mem_col_major);
}

extern "C" __global__ void wmma_bytes(const signed char *a, const signed char *b, int *d)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::fill_fragment(sum, -3);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}

// mma.sync.m16n8k8: A is 16x8 by rows, B is 8x8 by columns; the fragments are laid out as PTX documents.
extern "C" __global__ void mma_half(const __half *a, const __half *b, float *d)
{
    const int group = threadIdx.x / 4, part = threadIdx.x % 4;
    const unsigned a0 = *(const unsigned *)&a[group * 8 + part * 2],
                   a1 = *(const unsigned *)&a[(group + 8) * 8 + part * 2];
    const unsigned b0 = *(const unsigned *)&b[group * 8 + part * 2];
    float d0, d1, d2, d3;
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
        : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
        : "r"(a0), "r"(a1), "r"(b0), "f"(0.5f));
    d[group * 8 + part * 2] = d0;
    d[group * 8 + part * 2 + 1] = d1;
    d[(group + 8) * 8 + part * 2] = d2;
    d[(group + 8) * 8 + part * 2 + 1] = d3;
}

// ldmatrix.x4 and its transposing form: every lane ends with two elements of each of four 8x8 tiles.
extern "C" __global__ void load_matrices(const unsigned short *in, unsigned *out)
{
    __shared__ __align__(16) unsigned short tile[16 * 16];
    for (int i = threadIdx.x; i < 256; i += 32)
        tile[i] = in[i];
    __syncwarp();
    const unsigned row =
        (unsigned)__cvta_generic_to_shared(&tile[(threadIdx.x % 16) * 16 + threadIdx.x / 16 * 8]);
    unsigned r0, r1, r2, r3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                 : "r"(row));
    out[6 * threadIdx.x] = r0;
    out[6 * threadIdx.x + 1] = r1;
    out[6 * threadIdx.x + 2] = r2;
    out[6 * threadIdx.x + 3] = r3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r0), "=r"(r1)
                 : "r"(row));
    out[6 * threadIdx.x + 4] = r0;
    out[6 * threadIdx.x + 5] = r1;
}

extern "C" __global__ void mma_bytes(const int *a, const int *b, int *d)
{
    const int group = threadIdx.x / 4, part = threadIdx.x % 4;
    int d0, d1;
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%4,%4};"
        : "=r"(d0), "=r"(d1)
        : "r"(a[group * 4 + part]), "r"(b[group * 4 + part]), "r"(7));
    d[group * 8 + part * 2] = d0;
    d[group * 8 + part * 2 + 1] = d1;
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void wmma_bfloat(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *d)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::fill_fragment(sum, 0.0f);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_tf32(const float *a, const float *b, float *d)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::load_matrix_sync(left, a, 8);
    wmma::load_matrix_sync(right, b, 8);
    for (int i = 0; i < left.num_elements; i++)
        left.x[i] = wmma::__float_to_tf32(left.x[i]);
    for (int i = 0; i < right.num_elements; i++)
        right.x[i] = wmma::__float_to_tf32(right.x[i]);
    wmma::fill_fragment(sum, 0.0f);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}

template <typename T> static __device__ unsigned pair(const T *at)
{
    return *(const unsigned *)at;
}

// m16n8k16: twice the depth, as Triton and CUTLASS use it.
#define MMA_16(name, type, ptx)                                                                              \
    extern "C" __global__ void name(const type *a, const type *b, float *d)                                  \
    {                                                                                                        \
        const int group = threadIdx.x / 4, part = threadIdx.x % 4 * 2;                                       \
        const type *top = a + group * 16 + part, *bottom = top + 8 * 16, *column = b + group * 16 + part;    \
        float d0, d1, d2, d3;                                                                                \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." ptx "." ptx ".f32 "                                     \
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"                                      \
            : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)                                                         \
            : "r"(pair(top)), "r"(pair(bottom)), "r"(pair(top + 8)), "r"(pair(bottom + 8)),                  \
              "r"(pair(column)), "r"(pair(column + 8)), "f"(0.0f));                                          \
        d[group * 8 + part] = d0;                                                                            \
        d[group * 8 + part + 1] = d1;                                                                        \
        d[(group + 8) * 8 + part] = d2;                                                                      \
        d[(group + 8) * 8 + part + 1] = d3;                                                                  \
    }

MMA_16(mma_half_16, __half, "f16")
MMA_16(mma_bfloat_16, __nv_bfloat16, "bf16")

extern "C" __global__ void mma_tf32(const float *a, const float *b, float *d)
{
    const int group = threadIdx.x / 4, part = threadIdx.x % 4;
    unsigned a0, a1, b0;
    float d0, d1, d2, d3;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a0) : "f"(a[group * 4 + part]));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a1) : "f"(a[(group + 8) * 4 + part]));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b0) : "f"(b[group * 4 + part]));
    asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
        : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
        : "r"(a0), "r"(a1), "r"(b0), "f"(0.0f));
    d[group * 8 + part * 2] = d0;
    d[group * 8 + part * 2 + 1] = d1;
    d[(group + 8) * 8 + part * 2] = d2;
    d[(group + 8) * 8 + part * 2 + 1] = d3;
}
#endif
