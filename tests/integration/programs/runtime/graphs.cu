// Graphs: memory that they allocate, and nodes of each kind by both kinds of calls.
#include "check.h"

__global__ void add(int *sum, int value)
{
    atomicAdd(sum, value);
}

static void captured_allocation(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    int *memory, result = 0;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&memory, 32 * sizeof *memory, stream));
    CHECK(cudaMemsetAsync(memory, 0, 32 * sizeof *memory, stream));
    add<<<2, 33, 0, stream>>>(memory, 1);
    CHECK(cudaMemcpyAsync(&result, memory, sizeof result, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(memory, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("captured allocation %d\n", result);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
}

static int run(cudaGraph_t graph, cudaStream_t stream, const int *result)
{
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return *result;
}

__device__ int symbol;

// An allocation, a fill, a kernel, a copy of a box, copies to and from a symbol, a free: a call for each
// kind.
static void rows(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    int result = 0, one = 1;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams allocation = {};
    allocation.poolProps.allocType = cudaMemAllocationTypePinned;
    allocation.poolProps.location = {cudaMemLocationTypeDevice, 0};
    allocation.bytesize = 64;
    CHECK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &allocation));
    cudaMemsetParams fill = {};
    fill.dst = allocation.dptr;
    fill.elementSize = 4;
    fill.value = 30;
    fill.width = fill.height = 1;
    CHECK(cudaGraphAddMemsetNode(&node, graph, &node, 1, &fill));
    void *arguments[] = {&allocation.dptr, &one};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(add);
    kernel.gridDim = kernel.blockDim = dim3(2);
    kernel.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, &node, 1, &kernel));
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(allocation.dptr, 4, 4, 1);
    box.dstPtr = make_cudaPitchedPtr(static_cast<char *>(allocation.dptr) + 4, 4, 4, 1);
    box.extent = make_cudaExtent(4, 1, 1);
    box.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaGraphAddMemcpyNode(&node, graph, &node, 1, &box));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&node, graph, &node, 1, symbol, box.dstPtr.ptr, 4, 0,
                                         cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphAddMemcpyNodeFromSymbol(&node, graph, &node, 1, &result, symbol, 4, 0,
                                           cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemFreeNode(&node, graph, &node, 1, allocation.dptr));
    std::printf("rows %d\n", run(graph, stream, &result));
}

// The same through cudaGraphAddNode, and two conditional nodes, of which one runs its body.
static void any(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    int *sum = allocate<int>(1), result = 0, ten = 10;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams parameters = {cudaGraphNodeTypeMemset};
    parameters.memset.dst = sum;
    parameters.memset.elementSize = 4;
    parameters.memset.value = 5;
    parameters.memset.width = parameters.memset.height = 1;
    CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
    cudaGraphNodeParams kernel = {cudaGraphNodeTypeKernel};
    void *arguments[] = {&sum, &ten};
    kernel.kernel.func = reinterpret_cast<void *>(add);
    kernel.kernel.gridDim = kernel.kernel.blockDim = dim3(1);
    kernel.kernel.kernelParams = arguments;
    for (unsigned value = 0; value < 2; value++) {
        cudaGraphConditionalHandle handle;
        CHECK(cudaGraphConditionalHandleCreate(&handle, graph, value, cudaGraphCondAssignDefault));
        cudaGraphNodeParams condition = {cudaGraphNodeTypeConditional};
        condition.conditional.handle = handle;
        condition.conditional.type = cudaGraphCondTypeIf;
        condition.conditional.size = 1;
        CHECK(cudaGraphAddNode(&node, graph, &node, nullptr, 1, &condition));
        cudaGraphNode_t inside;
        CHECK(cudaGraphAddNode(&inside, condition.conditional.phGraph_out[0], nullptr, nullptr, 0, &kernel));
    }
    cudaGraphNodeParams copy = {cudaGraphNodeTypeMemcpy};
    copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(sum, 4, 4, 1);
    copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(&result, 4, 4, 1);
    copy.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
    copy.memcpy.copyParams.kind = cudaMemcpyDefault;
    CHECK(cudaGraphAddNode(&node, graph, &node, nullptr, 1, &copy));
    std::printf("any %d\n", run(graph, stream, &result));
    std::printf("no parameters: %s\n",
                cudaGetErrorName(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, nullptr)));
    (void)cudaGetLastError();
}

// A node of an executable graph gets new parameters.
static void changed(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t fill_node, copy_node;
    int *memory = allocate<int>(2), result = 0;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill = {};
    fill.dst = memory;
    fill.elementSize = 4;
    fill.value = 1;
    fill.width = 2;
    fill.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill_node, graph, nullptr, 0, &fill));
    CHECK(cudaGraphAddMemcpyNode1D(&copy_node, graph, &fill_node, 1, memory, memory + 1, 4,
                                   cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    fill.value = 70;
    CHECK(cudaGraphExecMemsetNodeSetParams(executable, fill_node, &fill));
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(executable, copy_node, memory + 1, memory, 4,
                                             cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaMemcpyAsync(&result, memory + 1, 4, cudaMemcpyDefault, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("changed %d\n", result);
}

int main()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    captured_allocation(stream);
    rows(stream);
    any(stream);
    changed(stream);
    CHECK(cudaStreamDestroy(stream));
}
