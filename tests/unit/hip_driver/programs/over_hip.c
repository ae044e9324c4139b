/* CUDA's driver functions as libcuda-over-hip.so says them in HIP. Each argument names a part to try. */
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(call, wanted)                                                                                 \
    do {                                                                                                     \
        const long long got_ = (long long)(call), wanted_ = (long long)(wanted);                             \
        if (got_ != wanted_) {                                                                               \
            fprintf(stderr, "line %d: %s is %lld, not %lld\n", __LINE__, #call, got_, wanted_);              \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)
#define CHECK(call) EXPECT(call, CUDA_SUCCESS)

static const char scale[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n.visible .global .align 4 .u32 table[4];\n"
    ".visible .entry scale(.param .u64 values, .param .u32 factor)\n{\n"
    "  .reg .b32 %r<5>;\n  .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [values];\n  ld.param.u32 %r1, [factor];\n  mov.u32 %r2, %tid.x;\n"
    "  mul.wide.u32 %rd2, %r2, 4;\n  add.s64 %rd3, %rd1, %rd2;\n  ld.global.u32 %r3, [%rd3];\n"
    "  mul.lo.u32 %r4, %r3, %r1;\n  st.global.u32 [%rd3], %r4;\n  ret;\n}\n";

enum { COUNT = 32 };

static CUdeviceptr allocated(unsigned value)
{
    CUdeviceptr address;
    CHECK(cuMemAlloc(&address, COUNT * sizeof value));
    CHECK(cuMemsetD32(address, value, COUNT));
    return address;
}

static unsigned at(CUdeviceptr address, int index)
{
    unsigned values[COUNT];
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(values, address, sizeof values));
    return values[index];
}

static CUfunction function(CUmodule *module)
{
    CUfunction found;
    CHECK(cuModuleLoadData(module, scale));
    CHECK(cuModuleGetFunction(&found, *module, "scale"));
    return found;
}

static void devices(void)
{
    int count = 0, value = 0;
    char name[64] = "";
    const char *text = NULL;
    size_t bytes = 0, available = 0;
    CHECK(cuDeviceGetCount(&count));
    EXPECT(count, 1);
    CHECK(cuDeviceGetName(name, sizeof name, 0));
    EXPECT(name[0] != 0, 1);
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    EXPECT(value, 32);
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    EXPECT(value > 0, 1);
    EXPECT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0),
           CUDA_ERROR_INVALID_VALUE);
    CHECK(cuDeviceTotalMem(&bytes, 0));
    CHECK(cuMemGetInfo(&available, &bytes));
    EXPECT(available <= bytes, 1);
    CHECK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    EXPECT(strcmp(text, "hipErrorIllegalAddress"), 0);
    EXPECT(cuDeviceGetName(name, sizeof name, 7), CUDA_ERROR_INVALID_DEVICE);
}

/* A context is the device's ordinal and one. */
static void contexts(void)
{
    CUcontext context = NULL, of_stream = NULL, of_pointer = NULL;
    CUdevice device = -1;
    CUstream stream;
    size_t value = 0;
    CHECK(cuCtxGetCurrent(&context));
    EXPECT((size_t)context, 1);
    CHECK(cuCtxGetDevice(&device));
    EXPECT(device, 0);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamGetCtx(stream, &of_stream));
    EXPECT((size_t)of_stream, 1);
    CHECK(cuPointerGetAttribute(&of_pointer, CU_POINTER_ATTRIBUTE_CONTEXT, allocated(0)));
    EXPECT((size_t)of_pointer, 1);
    EXPECT(cuCtxSetCurrent((CUcontext)(size_t)8), CUDA_ERROR_INVALID_DEVICE);
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    EXPECT(cuCtxGetLimit(&value, CU_LIMIT_PERSISTING_L2_CACHE_SIZE), CUDA_ERROR_UNSUPPORTED_LIMIT);
    EXPECT(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0), CUDA_ERROR_UNSUPPORTED_LIMIT);
    CHECK(cuCtxResetPersistingL2Cache());
    CHECK(cuStreamDestroy(stream));
}

static void pointers(void)
{
    CUdeviceptr base = 0, of_host = 0, memory = allocated(0);
    size_t bytes = 0;
    int type = 0;
    void *host = NULL;
    CHECK(cuMemGetAddressRange(&base, &bytes, memory + 5));
    EXPECT(base, memory);
    EXPECT(bytes, COUNT * 4);
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    EXPECT(type, CU_MEMORYTYPE_DEVICE);
    CHECK(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemHostGetDevicePointer(&of_host, host, 0));
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, of_host));
    EXPECT(type, CU_MEMORYTYPE_HOST);
    EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, memory), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(cuMemAlloc(NULL, 64), CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemFreeHost(host));
    CHECK(cuMemFree(memory));
}

static void virtual_memory(void)
{
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAllocationProp told;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address = 0;
    size_t granule = 0;
    unsigned long long flags = 0;
    unsigned value = 42;
    CHECK(cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cuMemAddressReserve(&address, granule, 0, 0, 0));
    CHECK(cuMemCreate(&handle, granule, &properties, 0));
    CHECK(cuMemGetAllocationPropertiesFromHandle(&told, handle));
    EXPECT(told.type, properties.type);
    EXPECT(told.location.type, properties.location.type);
    EXPECT(told.location.id, 0);
    CHECK(cuMemMap(address, granule, 0, handle, 0));
    CHECK(cuMemSetAccess(address, granule, &access, 1));
    CHECK(cuMemGetAccess(&flags, &properties.location, address));
    EXPECT(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CHECK(cuMemcpyHtoD(address, &value, sizeof value));
    value = 0;
    CHECK(cuMemcpyDtoH(&value, address, sizeof value));
    EXPECT(value, 42);
    CHECK(cuMemUnmap(address, granule));
    CHECK(cuMemRelease(handle));
    CHECK(cuMemAddressFree(address, granule));
}

/* A column out of a plane of 4 rows of 8 numbers, in both directions and on the device. */
static void copies(void)
{
    unsigned plane[4][8], column[4] = {0};
    CUdeviceptr memory = allocated(0), other = allocated(9);
    for (unsigned i = 0; i < 32; i++)
        plane[i / 8][i % 8] = i;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = plane,
                          .srcPitch = 32,
                          .srcHeight = 4,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = memory,
                          .dstPitch = 32,
                          .dstHeight = 4,
                          .WidthInBytes = 32,
                          .Height = 4,
                          .Depth = 1};
    CHECK(cuMemcpy3D(&copy));
    EXPECT(at(memory, 31), 31);
    const CUDA_MEMCPY2D back = {.srcXInBytes = 8,
                                .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = memory,
                                .srcPitch = 32,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = column,
                                .dstPitch = 4,
                                .WidthInBytes = 4,
                                .Height = 4};
    CHECK(cuMemcpy2DAsync(&back, CU_STREAM_LEGACY));
    CHECK(cuStreamSynchronize(CU_STREAM_LEGACY));
    EXPECT(column[0], 2);
    EXPECT(column[3], 26);
    CHECK(cuMemcpyDtoDAsync(other + 4, memory + 40, 8, NULL));
    EXPECT(at(other, 0), 9);
    EXPECT(at(other, 1), 10);
    EXPECT(at(other, 2), 11);
    EXPECT(at(other, 3), 9);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    EXPECT(cuMemcpy3D(&copy), CUDA_ERROR_NOT_SUPPORTED);
}

static void sets(void)
{
    const CUdeviceptr memory = allocated(0);
    CHECK(cuMemsetD2D32Async(memory, 32, 5, 2, 3, NULL));
    EXPECT(at(memory, 1), 5);
    EXPECT(at(memory, 2), 0);
    EXPECT(at(memory, 17), 5);
    EXPECT(at(memory, 24), 0);
    CHECK(cuMemsetD2D16(memory, 32, 0x0101, 3, 1));
    EXPECT(at(memory, 0), 0x01010101);
    EXPECT(at(memory, 1), 0x0101);
    CHECK(cuMemsetD2D8Async(memory, 32, 7, 4, 2, NULL));
    EXPECT(at(memory, 8), 0x07070707);
    CHECK(cuMemsetD16Async(memory, 0xffff, 2, NULL));
    EXPECT(at(memory, 0), 0xffffffff);
    CHECK(cuMemsetD8Async(memory, 1, 1, CU_STREAM_LEGACY));
    EXPECT(at(memory, 0), 0xffffff01);
}

static void launches(void)
{
    CUmodule module;
    const CUfunction kernel = function(&module);
    CUdeviceptr memory = allocated(1), table = 0;
    unsigned factor = 3;
    size_t bytes = 0;
    int value = -1;
    void *parameters[] = {&memory, &factor};
    struct {
        CUdeviceptr memory;
        unsigned factor;
    } packed = {memory, 5};
    size_t packed_bytes = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes,
                     CU_LAUNCH_PARAM_END};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_IGNORE};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    EXPECT(at(memory, 31), 3);
    CHECK(cuLaunchKernelEx(&config, kernel, NULL, extra));
    EXPECT(at(memory, 31), 15);
    attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    EXPECT(cuLaunchKernelEx(&config, kernel, parameters, NULL), CUDA_ERROR_NOT_SUPPORTED);
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE; /* hipModuleLaunchCooperativeKernel came with 5.5 */
    attribute.value.cooperative = 1;
    EXPECT(cuLaunchKernelEx(&config, kernel, parameters, NULL), CUDA_ERROR_NOT_SUPPORTED);
    CHECK(cuModuleGetGlobal(&table, &bytes, module, "table"));
    EXPECT(bytes, 16);
    EXPECT(cuModuleGetGlobal(&table, &bytes, module, "no such"), CUDA_ERROR_NOT_FOUND);
    CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel));
    EXPECT(value >= 32, 1);
    EXPECT(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, kernel),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2), CUDA_ERROR_NOT_SUPPORTED);
    CHECK(cuModuleUnload(module));
}

/* A library is a module, and its kernels are its functions. */
static void libraries(void)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction found = NULL;
    CUdeviceptr table = 0;
    size_t bytes = 0;
    CHECK(cuLibraryLoadData(&library, scale, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "scale"));
    CHECK(cuKernelGetFunction(&found, kernel));
    EXPECT((size_t)found, (size_t)kernel);
    CHECK(cuLibraryGetGlobal(&table, &bytes, library, "table"));
    EXPECT(bytes, 16);
    CHECK(cuLibraryUnload(library));
}

static void streams(void)
{
    CUstream stream;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUevent start, stop;
    CUgraph graph;
    unsigned flags = 0;
    float milliseconds = -1;
    CHECK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
    CHECK(cuStreamGetFlags(stream, &flags));
    EXPECT(flags, CU_STREAM_NON_BLOCKING);
    CHECK(cuStreamIsCapturing(CU_STREAM_LEGACY, &status));
    EXPECT(status, CU_STREAM_CAPTURE_STATUS_NONE);
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuStreamIsCapturing(stream, &status));
    EXPECT(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(start, stream));
    CHECK(cuEventRecord(stop, stream));
    CHECK(cuStreamWaitEvent(CU_STREAM_LEGACY, stop, 0));
    CHECK(cuEventSynchronize(stop));
    CHECK(cuEventQuery(stop));
    CHECK(cuEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds >= 0, 1);
    CHECK(cuStreamQuery(stream));
    CHECK(cuStreamDestroy(stream));
}

static CUgraphNodeType type_of(CUgraphNode node)
{
    CUgraphNodeType type = (CUgraphNodeType)-1;
    CHECK(cuGraphNodeGetType(node, &type));
    return type;
}

static void graphs(void)
{
    CUmodule module;
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode kernel, copy, set, nodes[3], from[2], to[2];
    CUgraphEdgeData edges[2];
    CUdeviceptr memory = allocated(1), other = allocated(0);
    unsigned factor = 6;
    size_t count = 3;
    struct {
        CUdeviceptr memory;
        unsigned factor;
    } packed = {memory, factor};
    size_t packed_bytes = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes,
                     CU_LAUNCH_PARAM_END};
    const CUDA_KERNEL_NODE_PARAMS launch = {.func = function(&module),
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 32,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .extra = extra};
    const CUDA_MEMSET_NODE_PARAMS filled = {
        .dst = memory, .value = 7, .elementSize = 4, .width = COUNT, .height = 1};
    const CUDA_MEMCPY3D moved = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = memory,
                                 .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .dstDevice = other,
                                 .WidthInBytes = COUNT * 4,
                                 .Height = 1,
                                 .Depth = 1};
    CUDA_KERNEL_NODE_PARAMS launch_told;
    CUDA_MEMSET_NODE_PARAMS filled_told;
    CUDA_MEMCPY3D moved_told;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &filled, NULL));
    CHECK(cuGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
    CHECK(cuGraphAddMemcpyNode(&copy, graph, NULL, 0, &moved, NULL));
    const CUgraphEdgeData whole = {0}, launch_port = {.from_port = 1};
    EXPECT(cuGraphAddDependencies_v2(graph, &kernel, &copy, &launch_port, 1), CUDA_ERROR_NOT_SUPPORTED);
    CHECK(cuGraphAddDependencies_v2(graph, &kernel, &copy, &whole, 1));
    EXPECT(type_of(set), CU_GRAPH_NODE_TYPE_MEMSET);
    EXPECT(type_of(kernel), CU_GRAPH_NODE_TYPE_KERNEL);
    EXPECT(type_of(copy), CU_GRAPH_NODE_TYPE_MEMCPY);
    CHECK(cuGraphGetNodes(graph, nodes, &count));
    EXPECT(count, 3);
    count = 2;
    CHECK(cuGraphGetEdges_v2(graph, from, to, edges, &count));
    EXPECT(count, 2);
    CHECK(cuGraphKernelNodeGetParams(kernel, &launch_told));
    EXPECT((size_t)launch_told.func, (size_t)launch.func);
    EXPECT(launch_told.blockDimX, 32);
    CHECK(cuGraphMemsetNodeGetParams(set, &filled_told));
    EXPECT(filled_told.dst, memory);
    EXPECT(filled_told.elementSize, 4);
    EXPECT(filled_told.width, COUNT);
    CHECK(cuGraphMemcpyNodeGetParams(copy, &moved_told));
    EXPECT(moved_told.dstDevice, other);
    EXPECT(moved_told.WidthInBytes, COUNT * 4);
    EXPECT(cuGraphMemcpyNodeGetParams(kernel, &moved_told), CUDA_ERROR_INVALID_VALUE);
    CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(cuGraphUpload(executable, NULL));
    CHECK(cuGraphNodeSetEnabled(executable, kernel, 1));
    EXPECT(cuGraphNodeSetEnabled(executable, kernel, 0), CUDA_ERROR_NOT_SUPPORTED); /* since 5.3 */
    CHECK(cuGraphLaunch(executable, NULL));
    EXPECT(at(other, 31), 42);
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"devices", devices},        {"contexts", contexts},   {"pointers", pointers},
                 {"virtual", virtual_memory}, {"copies", copies},       {"sets", sets},
                 {"launches", launches},      {"libraries", libraries}, {"streams", streams},
                 {"graphs", graphs}};
    CUcontext context = NULL;
    const CUresult result = cuInit(0);
    printf("cuInit %d\n", (int)result);
    if (argc < 2)
        return 0;
    CHECK(result);
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0) {
            parts[i].run();
            CHECK(cuDevicePrimaryCtxRelease(0));
            return 0;
        }
    fprintf(stderr, "no part %s\n", argv[1]);
    return 2;
}
