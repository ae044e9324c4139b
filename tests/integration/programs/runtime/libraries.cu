// Libraries that the program loads, batches of copies, and parameters of graph nodes that it reads.
#include "check.h"

static const char text[] = R"(.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 values)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [values];
    ld.global.u32 %r1, [factor];
    ld.global.u32 %r2, [%rd1];
    mul.lo.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry nothing()
{
    ret;
}
)";

__global__ void add(int *value, int by)
{
    *value += by;
}

static int seven_scaled(const void *kernel)
{
    static const int seven = 7;
    int *value = allocate<int>(1);
    void *arguments[] = {&value};
    CHECK(cudaMemcpy(value, &seven, sizeof seven, cudaMemcpyDefault));
    const cudaError_t result = cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr);
    if (result != cudaSuccess)
        return -(int)result;
    return read(value);
}

static void libraries(const char *path)
{
    cudaLibrary_t library, again;
    cudaKernel_t kernel, all[4];
    unsigned count = 0;
    size_t bytes = 0;
    int *factor = nullptr;
    void *managed = nullptr;
    cudaFuncAttributes attributes;
    CHECK(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cudaLibraryGetKernelCount(&count, library));
    CHECK(cudaLibraryGetKernel(&kernel, library, "scale"));
    CHECK(cudaLibraryGetKernel(&kernel, library, "scale"));
    printf("%u kernels, scaled %d\n", count, seven_scaled((const void *)kernel));
    CHECK(cudaLibraryGetGlobal((void **)&factor, &bytes, library, "factor"));
    const int five = 5;
    CHECK(cudaMemcpy(factor, &five, sizeof five, cudaMemcpyDefault));
    printf("%zu bytes, scaled %d\n", bytes, seven_scaled((const void *)kernel));
    CHECK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 0));
    CHECK(cudaFuncGetAttributes(&attributes, (const void *)kernel));
    printf("shared memory %d\n", attributes.maxDynamicSharedSizeBytes);
    printf("no kernel: %s, no managed variable: %s\n",
           cudaGetErrorName(cudaLibraryGetKernel(&kernel, library, "missing")),
           cudaGetErrorName(cudaLibraryGetManaged(&managed, &bytes, library, "factor")));
    CHECK(cudaLibraryGetKernel(&kernel, library, "scale"));
    CHECK(cudaLibraryUnload(library));
    printf("after unload: %s, twice: %s\n",
           cudaGetErrorName((cudaError_t)-seven_scaled((const void *)kernel)),
           cudaGetErrorName(cudaLibraryUnload(library)));

    FILE *file = fopen(path, "wb");
    if (file == nullptr || fwrite(text, 1, sizeof text, file) != sizeof text || fclose(file) != 0)
        exit(2);
    CHECK(cudaLibraryLoadFromFile(&again, path, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cudaLibraryEnumerateKernels(all, 4, again));
    int scaled = 0;
    for (unsigned i = 0; i < count; i++) {
        const int value = seven_scaled((const void *)all[i]);
        scaled = value > scaled ? value : scaled;
    }
    printf("from a file %d\n", scaled);
    CHECK(cudaLibraryUnload(again));
    (void)remove(path);
}

static void batches()
{
    int from[4] = {1, 2, 3, 4}, to[4] = {}, *device = allocate<int>(4);
    const void *sources[] = {from, from + 2};
    void *targets[] = {device + 2, device};
    const size_t sizes[] = {8, 8};
    size_t first = 0;
    cudaMemcpyAttributes attributes = {};
    cudaStream_t stream;
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceSynchronize()); // the fill of the memory is on another stream
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &first, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(to, device, sizeof to, cudaMemcpyDefault));
    printf("batch %d %d %d %d\n", to[0], to[1], to[2], to[3]);

    cudaMemcpy3DPeerParms box = {};
    box.srcPtr = make_cudaPitchedPtr(from, 8, 8, 2);
    box.dstPtr = make_cudaPitchedPtr(device, 8, 8, 2);
    box.srcPos = make_cudaPos(4, 0, 0);
    box.extent = make_cudaExtent(4, 2, 1);
    CHECK(cudaMemcpy3DPeer(&box));
    CHECK(cudaMemcpy(to, device, sizeof to, cudaMemcpyDefault));
    box.dstDevice = 9;
    printf("box %d %d %d %d, no device: %s\n", to[0], to[1], to[2], to[3],
           cudaGetErrorName(cudaMemcpy3DPeer(&box)));
}

static void nodes()
{
    cudaGraph_t graph;
    cudaGraphNode_t kernel, copy;
    cudaGraphExec_t executable;
    int by = 4, *value = allocate<int>(2);
    void *arguments[] = {&value, &by};
    cudaKernelNodeParams parameters = {}, same = {};
    parameters.func = (void *)add;
    parameters.gridDim = parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &parameters));
    CHECK(cudaGraphKernelNodeGetParams(kernel, &same));
    cudaMemcpy3DParms box = {}, back = {};
    box.srcPtr = make_cudaPitchedPtr(value, 4, 4, 1);
    box.dstPtr = make_cudaPitchedPtr(value + 1, 4, 4, 1);
    box.extent = make_cudaExtent(4, 1, 1);
    box.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaGraphAddMemcpyNode(&copy, graph, &kernel, 1, &box));
    CHECK(cudaGraphMemcpyNodeGetParams(copy, &back));
    printf("the same function %d, argument %d, source %d, target %d, %zu bytes\n", same.func == (void *)add,
           *(int *)same.kernelParams[1], back.srcPtr.ptr == value, back.dstPtr.ptr == value + 1,
           back.extent.width);
    by = 6;
    same.kernelParams = arguments;
    CHECK(cudaGraphKernelNodeSetParams(kernel, &same));
    CHECK(cudaGraphMemcpyNodeSetParams(copy, &back));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    printf("graph %d\n", read(value + 1));
}

int main(int, char **argv)
{
    void *entry = nullptr;
    cudaStream_t first, second;
    char path[4096];
    snprintf(path, sizeof path, "%s.ptx", argv[0]);
    libraries(path);
    batches();
    nodes();
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaStreamCopyAttributes(first, second));
    CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault, nullptr));
    printf("entry point %d\n", entry != nullptr);
}
