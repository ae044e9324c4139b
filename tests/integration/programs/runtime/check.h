// Shared by these programs: they are written as any CUDA C++ program is, and print what they find.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const cudaError_t result_ = (call);                                                                  \
        if (result_ != cudaSuccess) {                                                                        \
            std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(result_));                  \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

template <typename T> T *allocate(size_t count)
{
    T *memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    CHECK(cudaDeviceSynchronize()); // other streams do not wait for a default stream of the thread
    return memory;
}

template <typename T> T read(const T *memory)
{
    T value;
    CHECK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}
