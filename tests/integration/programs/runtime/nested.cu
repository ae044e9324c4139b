// Kernels that launch kernels, and one that calls a function which the CPU driver lacks.
#include "check.h"

__global__ void sort(int *values, int left, int right)
{
    int i = left, j = right;
    const int pivot = values[(left + right) / 2];
    while (i <= j) {
        while (values[i] < pivot)
            i++;
        while (values[j] > pivot)
            j--;
        if (i <= j) {
            const int value = values[i];
            values[i++] = values[j];
            values[j--] = value;
        }
    }
    cudaStream_t stream;
    if (left < j) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        sort<<<1, 1, 0, stream>>>(values, left, j);
        cudaStreamDestroy(stream);
    }
    if (i < right) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        sort<<<1, 1, 0, stream>>>(values, i, right);
        cudaStreamDestroy(stream);
    }
}

__global__ void note(int *to, int value)
{
    to[1 + to[0]++] = value;
}

__global__ void order(int *to)
{
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(to, 4);
    note<<<1, 1>>>(to, 2);
    note<<<1, 1, 0, cudaStreamFireAndForget>>>(to, 3);
    to[1 + to[0]++] = 1;
}

__global__ void wrong(int *to)
{
    note<<<0, 1>>>(to, 1);
    std::printf("wrong launch: %s\n", cudaGetErrorString(cudaGetLastError()));
}

__global__ void asks(int *to)
{
    cudaGetDevice(to);
}

static bool sorts()
{
    const int count = 1000;
    int *values = allocate<int>(count), copy[count];
    for (int i = 0; i < count; i++)
        copy[i] = (int)(i * 7919u % 10007u);
    CHECK(cudaMemcpy(values, copy, sizeof copy, cudaMemcpyHostToDevice));
    sort<<<1, 1>>>(values, 0, count - 1);
    CHECK(cudaMemcpy(copy, values, sizeof copy, cudaMemcpyDeviceToHost));
    bool sorted = true;
    for (int i = 1; i < count; i++)
        sorted = sorted && copy[i - 1] <= copy[i];
    return sorted;
}

int main()
{
    int *to = allocate<int>(8), copy[5];
    std::printf("sorted %d\n", sorts());
    std::fflush(stdout);
    wrong<<<1, 1>>>(to);
    order<<<1, 1>>>(to);
    CHECK(cudaMemcpy(copy, to, sizeof copy, cudaMemcpyDeviceToHost));
    std::printf("order %d %d %d %d\n", copy[1], copy[2], copy[3], copy[4]);
    asks<<<1, 1>>>(to);
    std::printf("asks for the device: %s\n", cudaGetErrorName(cudaGetLastError()));
    std::printf("after it: sorted %d\n", sorts());
}
