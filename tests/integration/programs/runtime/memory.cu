// Symbols, rows, managed and host memory, pools.
#include "check.h"

__constant__ float weights[4];
__device__ int counter = 5;
__managed__ int both = 7;

__global__ void use(float *out)
{
    for (int i = 0; i < 4; i++)
        out[i] = weights[i] * 2;
    counter += 1;
    both += 1;
}

int main()
{
    float given[4] = {1, 2, 3, 4}, taken[4];
    float *out = allocate<float>(4);
    CHECK(cudaMemcpyToSymbol(weights, given, sizeof given));
    CHECK(cudaMemcpyToSymbol(weights, given, 4, 12)); // the last becomes 1
    use<<<1, 1>>>(out);
    CHECK(cudaMemcpy(taken, out, sizeof taken, cudaMemcpyDefault));
    std::printf("weights %g %g %g %g\n", taken[0], taken[1], taken[2], taken[3]);
    int value;
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    std::printf("counter %d, managed %d\n", value, both);
    int *address;
    size_t bytes;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&address), counter));
    CHECK(cudaGetSymbolSize(&bytes, weights));
    std::printf("at its address %d, of %zu bytes\n", read(address), bytes);
    std::printf("too much: %s\n", cudaGetErrorName(cudaMemcpyToSymbol(weights, given, 16, 4)));
    std::printf("no symbol: %s\n", cudaGetErrorName(cudaMemcpyToSymbol(given, given, 4)));
    std::printf("no direction: %s\n", cudaGetErrorName(cudaMemcpy(out, given, 4, (cudaMemcpyKind)9)));

    unsigned char rows[3][10], back[3][10];
    for (int i = 0; i < 30; i++)
        rows[i / 10][i % 10] = (unsigned char)i;
    char *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, 10, 3));
    CHECK(cudaMemcpy2D(pitched, pitch, rows, 10, 10, 3, cudaMemcpyHostToDevice));
    CHECK(cudaMemset2D(pitched, pitch, 99, 5, 2));
    CHECK(cudaMemcpy2D(back, 10, pitched, pitch, 10, 3, cudaMemcpyDeviceToHost));
    std::printf("rows %d %d %d\n", back[0][4], back[1][5], back[2][9]);
    std::printf("narrow: %s\n",
                cudaGetErrorName(cudaMemcpy2D(back, 5, pitched, pitch, 10, 3, cudaMemcpyDefault)));

    void *host, *managed, *nothing = &host, *pooled;
    CHECK(cudaMallocHost(&host, 64));
    CHECK(cudaMallocManaged(&managed, 64));
    CHECK(cudaMalloc(&nothing, 0));
    CHECK(cudaMallocAsync(&pooled, 4096, nullptr));
    cudaPointerAttributes attributes;
    std::printf("kinds");
    for (const void *memory :
         {(const void *)out, (const void *)host, (const void *)managed, (const void *)given}) {
        CHECK(cudaPointerGetAttributes(&attributes, memory));
        std::printf(" %d", attributes.type);
    }
    std::printf("\nno bytes: %s\n", nothing == nullptr ? "no address" : "an address");
    CHECK(cudaFreeAsync(pooled, nullptr));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(managed));
    CHECK(cudaFree(nullptr));
    std::printf("not ours: %s\n", cudaGetErrorName(cudaFree(given)));
}
