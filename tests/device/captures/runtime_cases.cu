// Programs of the CUDA runtime, linked statically: nothing in them knows of a recorder.
//
// runtime_cases saxpy|cooperative            launch three times; the third is what a recorder is to take
// runtime_cases saxpy|cooperative --measure  print {"median_us": ...} of event pairs, L2 written and then
// read before
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const cudaError_t status = (call);                                                                   \
        if (status != cudaSuccess) {                                                                         \
            std::fprintf(stderr, "runtime_cases: %s: %s\n", #call, cudaGetErrorString(status));              \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

constexpr int count = 1 << 22;
constexpr int rounds = 8;
constexpr size_t written_bytes = size_t{256} << 20, read_bytes = size_t{512} << 20;

__global__ void saxpy(float factor, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = factor * x[i] + 1.0f;
}

// Every round reads what other blocks wrote in the one before: wrong without grid-wide barriers.
__global__ void shift(float *from, float *to)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int round = 0; round < rounds; round++) {
        for (unsigned long long i = grid.thread_rank(); i < count; i += grid.size())
            to[(i + 4096) % count] = from[i] + 1.0f;
        grid.sync();
        float *const last = from;
        from = to;
        to = last;
    }
}

__global__ void fill(float *values, size_t elements, float step)
{
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < elements;
         i += size_t{gridDim.x} * blockDim.x)
        values[i] = step * static_cast<float>(i % 1000);
}

__global__ void add_up(const float *values, size_t elements, float *result)
{
    float sum = 0;
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < elements;
         i += size_t{gridDim.x} * blockDim.x)
        sum += values[i];
    if (sum == -1.0f)
        *result = sum;
}

struct Memory {
    float *x, *y, *written, *read;
};

static int cooperative_blocks()
{
    int blocks = 0, multiprocessors = 0;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shift, 256, 0));
    return blocks * multiprocessors;
}

static void run(const char *name, const Memory &memory)
{
    static const int blocks = cooperative_blocks();
    float *x = memory.x, *y = memory.y;
    void *arguments[] = {&x, &y};
    if (std::strcmp(name, "saxpy") == 0)
        saxpy<<<count / 256, 256>>>(2.0f, memory.x, memory.y);
    else
        CHECK(cudaLaunchCooperativeKernel(shift, dim3(blocks), dim3(256), arguments));
    CHECK(cudaGetLastError());
}

static void measure(const char *name, const Memory &memory)
{
    cudaEvent_t first, last;
    CHECK(cudaEventCreate(&first));
    CHECK(cudaEventCreate(&last));
    std::vector<float> times(200);
    for (float &time : times) {
        fill<<<1024, 256>>>(memory.written, written_bytes / sizeof(float), 1.0f);
        add_up<<<1024, 256>>>(memory.read, read_bytes / sizeof(float), memory.written);
        CHECK(cudaEventRecord(first));
        run(name, memory);
        CHECK(cudaEventRecord(last));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventElapsedTime(&time, first, last));
    }
    std::sort(times.begin(), times.end());
    std::printf("{\"median_us\": %.3f, \"p5_us\": %.3f, \"p95_us\": %.3f}\n", times[100] * 1e3,
                times[10] * 1e3, times[190] * 1e3);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "runtime_cases: name saxpy or cooperative\n");
        return 2;
    }
    Memory memory;
    CHECK(cudaMalloc(&memory.x, count * sizeof(float)));
    CHECK(cudaMalloc(&memory.y, count * sizeof(float)));
    std::vector<float> values(count);
    for (int i = 0; i < count; i++)
        values[i] = static_cast<float>(i % 1000);
    CHECK(cudaMemcpy(memory.x, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(memory.y, 0, count * sizeof(float)));
    if (argc > 2 && std::strcmp(argv[2], "--measure") == 0) {
        CHECK(cudaMalloc(&memory.written, written_bytes));
        CHECK(cudaMalloc(&memory.read, read_bytes));
        CHECK(cudaMemset(memory.read, 0, read_bytes));
        for (int i = 0; i < 3; i++)
            run(argv[1], memory);
        measure(argv[1], memory);
    } else {
        for (int i = 0; i < 3; i++)
            run(argv[1], memory);
        CHECK(cudaDeviceSynchronize());
    }
    return 0;
}
