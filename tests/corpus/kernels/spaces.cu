// State spaces: constant tables, shared memory of both kinds, local arrays, module variables that point at
// each other.

__constant__ int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
__constant__ double weights[4];
__constant__ struct {
    char letter;
    short number;
    float fraction[3];
} mixed = {'x', -300, {0.25f, 0.5f, -1.5f}};

extern "C" __global__ void constant_tables(const int *in, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = primes[in[i] & 15] + mixed.letter * 1000 + mixed.number * mixed.fraction[in[i] % 3];
}

// `weights` is written by the host.
extern "C" __global__ void constant_from_the_host(const int *in, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = weights[in[i] & 3];
}

extern "C" __global__ void dynamic_shared(const int *in, int *out, int n)
{
    extern __shared__ char memory[];
    long long *wide = (long long *)memory;
    short *narrow = (short *)(wide + n);
    wide[threadIdx.x] = (long long)in[threadIdx.x] << 20;
    narrow[threadIdx.x] = (short)(in[threadIdx.x] + 7);
    __syncthreads();
    const int other = n - 1 - threadIdx.x;
    out[threadIdx.x] = (int)(wide[other] >> 10) + narrow[(threadIdx.x + 1) % n];
}

extern "C" __global__ void static_shared(const int *in, int *out)
{
    __shared__ int numbers[64];
    __shared__ unsigned char bytes[64];
    __shared__ double total;
    numbers[threadIdx.x] = in[threadIdx.x];
    bytes[63 - threadIdx.x] = (unsigned char)in[threadIdx.x];
    if (threadIdx.x == 5)
        total = 2.5;
    __syncthreads();
    out[threadIdx.x] = numbers[threadIdx.x ^ 21] * bytes[threadIdx.x] + (int)(total * 2);
}

// Indexed by what is known only at run time, so it stays in local memory.
extern "C" __global__ void local_array(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sorted[20];
    for (int k = 0; k < 20; k++)
        sorted[k] = in[i * 20 + k];
    for (int k = 1; k < 20; k++) {
        const int value = sorted[k];
        int place = k;
        for (; place > 0 && sorted[place - 1] > value; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = value;
    }
    for (int k = 0; k < 20; k++)
        out[i * 20 + k] = sorted[(k + i) % 20];
}

static __device__ __noinline__ void bump(int *anywhere, int by)
{
    *anywhere += by;
}

// One generic pointer to global, shared and local memory.
extern "C" __global__ void generic_pointers(int *out)
{
    __shared__ int shared[64];
    int local[2] = {(int)threadIdx.x, 7};
    shared[threadIdx.x] = 100;
    __syncthreads();
    int *where = threadIdx.x % 3 == 0   ? out + threadIdx.x
                 : threadIdx.x % 3 == 1 ? &shared[threadIdx.x]
                                        : &local[threadIdx.x & 1];
    bump(where, 5);
    out[threadIdx.x + 64] = *where +
                            1000 * (__isGlobal(where) + 2 * __isShared(where) + 4 * __isLocal(where)) +
                            10000 * (int)__isConstant(&primes[threadIdx.x & 15]);
}

__device__ int counter = 41;
__device__ unsigned char text[] = "kernel";
__device__ float3 triple = {1.5f, -2.0f, 0.25f};
__device__ int zeroed[5];
__device__ int *first = &zeroed[3];
__device__ int **second = &first;
__device__ const unsigned char *letter = text + 2;
struct Node {
    int value;
    const Node *next;
};
__device__ const Node last[2] = {{0, nullptr}, {30, nullptr}}, middle = {10, &last[1]}, top = {20, &middle};
__device__ const Node *head = &top;

extern "C" __global__ void module_variables(int *out)
{
    if (threadIdx.x == 0) {
        atomicAdd(&counter, 1);
        **second = 77;
    }
    __syncthreads();
    const Node *node = head;
    for (int i = 0; i < threadIdx.x; i++)
        node = node->next ? node->next : head;
    out[threadIdx.x] =
        node->value + (int)(triple.x * 8 + triple.y + triple.z * 4) + *(letter + threadIdx.x % 4);
    if (threadIdx.x == 0) {
        out[32] = counter;
        out[33] = zeroed[3] + zeroed[2];
        out[34] = (int)sizeof text;
    }
}
