// Source of the code objects in this folder: see README.md. Needs no HIP header.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))

// The compiler wants these where it makes the host's side of a kernel.
struct dim3 {
    unsigned x, y, z;
};
typedef struct ihipStream_t *hipStream_t;
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, __SIZE_TYPE__, hipStream_t);

struct block {
    long long first;
    int second, third;
};

__device__ int counter;
__device__ float weights[16] = {1};
__constant__ int table[4] = {1, 2, 3, 4};
static __device__ short hidden;

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    const int i = (int)__builtin_amdgcn_workitem_id_x();
    if (i < n)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void mixed(char one, short two, block three, double four, int *out)
{
    *out = one + two + (int)three.first + three.third + (int)four + counter + table[one & 3] + hidden;
    hidden = two;
}

extern "C" __global__ void empty()
{
}

// Its size of a block is a hidden argument.
extern "C" __global__ void sized(int *out)
{
    __shared__ int tile[64];
    const unsigned short *implicit = (const unsigned short *)__builtin_amdgcn_implicitarg_ptr();
    const int i = (int)__builtin_amdgcn_workitem_id_x();
    tile[i & 63] = out[i];
    __builtin_amdgcn_s_barrier();
    out[i] = tile[63 - (i & 63)] + implicit[6] + (int)weights[i & 15];
}

// Indexed at run time, so it lies in scratch memory.
template <typename T> __global__ void spilled(T *out, int which)
{
    volatile T values[32];
    for (int i = 0; i < 32; i++)
        values[i] = out[i];
    out[which] = values[which & 31];
}
template __global__ void spilled<float>(float *out, int which);
