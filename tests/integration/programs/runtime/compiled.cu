// Has NVRTC compile a kernel to machine code, as cuda-samples do, and runs it.
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
#include <vector>

static const char text[] = "extern \"C\" __global__ void set(int *to) { *to = 42; }";

static std::vector<char> compile(const char *architecture)
{
    nvrtcProgram program;
    size_t bytes = 0;
    nvrtcCreateProgram(&program, text, "set.cu", 0, nullptr, nullptr);
    nvrtcCompileProgram(program, 1, &architecture);
    nvrtcGetCUBINSize(program, &bytes);
    std::vector<char> code(bytes);
    if (bytes != 0)
        nvrtcGetCUBIN(program, code.data());
    nvrtcDestroyProgram(&program);
    return code;
}

int main()
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    int value = 0;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    const std::vector<char> code = compile("--gpu-architecture=sm_90");
    const CUresult result = cuModuleLoadData(&module, code.data());
    if (result != CUDA_SUCCESS) {
        printf("not loaded: %d\n", result);
        return 1;
    }
    cuModuleGetFunction(&function, module, "set");
    cuMemAlloc(&memory, sizeof value);
    void *parameters[] = {&memory};
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
    cuMemcpyDtoH(&value, memory, sizeof value);
    printf("set %d, of a virtual architecture %zu bytes\n", value,
           compile("--gpu-architecture=compute_90").size());
    return 0;
}
