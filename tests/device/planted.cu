// Memory errors, each chosen by *which; 0: none. sanitizer.py runs it under compute-sanitizer and in the
// device cordon.
#include <cstdio>
#include <cstdlib>

constexpr int COUNT = 250; // 1000 bytes: the next allocation begins at a multiple of 256

__device__ __noinline__ void store(int *place, int value)
{
    *place = value; // 6
}

__global__ void planted(int *data, const int *which, int *out)
{
    __shared__ int tile[32];
    const int lane = threadIdx.x;
    tile[lane] = lane;
    __syncthreads();
    int sum = data[lane];
    switch (*which) {
    case 1:
        sum += data[COUNT + 64 + lane]; // 1
        break;
    case 2:
        data[COUNT] = lane; // 2
        break;
    case 3:
        atomicAdd(&data[COUNT + 1], 1); // 3
        break;
    case 4:
        sum += *(const volatile int *)((const char *)data + 2); // 4
        break;
    case 5:
        *(volatile int *)((char *)data + 4 * lane + 1) = 1; // 5
        break;
    case 6:
        store(data + COUNT + 70 + lane, lane);
        break;
    case 7:
        *(volatile int *)&tile[32 + 4096 + lane] = lane; // 7
        break;
    case 8:
        sum += data[-64 - lane]; // 8
        break;
    default:
        break;
    }
    out[lane] = sum + tile[31 - lane];
}

int main(int argc, char **argv)
{
    int *data = nullptr, *which = nullptr, *out = nullptr;
    const int chosen = argc > 1 ? atoi(argv[1]) : 0;
    cudaMalloc(&data, COUNT * sizeof(int));
    cudaMalloc(&which, sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(data, 0, COUNT * sizeof(int));
    cudaMemcpy(which, &chosen, sizeof chosen, cudaMemcpyHostToDevice);
    planted<<<1, 32>>>(data, which, out);
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(error));
    return 0;
}
