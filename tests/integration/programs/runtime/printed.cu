// printf in a kernel: flags, widths from arguments, narrow integers, a missing string, its result.
#include <cstdio>

__global__ void print(const char *missing)
{
    const int count = printf("%*d|%-*d|%.*f|%.*e|%#x|%+05d\n", 5, 42, 4, 7, 2, 1.23456, -1, 1.5, 255, 3);
    printf("%hhd %hu %ld %llx %zu\n", 300, 65537, -1L, ~0ull, sizeof(int));
    printf("%5s|%-5s|%.2s|%c|%5.1f|%g|%a|%p|%%|%s\n", "ab", "cd", "xyz", 'q', 2.25, 1e-10, 1.0, (void *)16,
           missing);
    printf("results %d %d %d\n", count, printf("no arguments\n"), printf(missing));
}

int main()
{
    print<<<1, 1>>>(nullptr);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
