/* A stream is given memory again that it has freed, at once; another stream only when the first has done its
 * work. */
#include "region.h"

static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry await(.param .u64 flag, .param .u64 result)\n{\n"
                          "    .reg .u64 %a<3>; .reg .u32 %v; .reg .pred %p;\n"
                          "    ld.param.u64 %a1, [flag];\n    ld.param.u64 %a2, [result];\n"
                          "again:\n    ld.volatile.global.u32 %v, [%a1];\n    setp.eq.u32 %p, %v, 0;\n"
                          "    @%p bra again;\n    st.global.u32 [%a2], %v;\n    ret;\n}\n";

int main(void)
{
    CUmodule module;
    CUfunction await;
    CUmemoryPool pool;
    CUstream one, two;
    CUdeviceptr first, again, other, later;
    volatile unsigned *flag;
    unsigned seen = 0;
    region_start();
    CHECK(cuMemHostAlloc((void **)&flag, sizeof *flag, CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&await, module, "await"));
    CHECK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAllocAsync(&first, 4096, one));
    CUdeviceptr address = (CUdeviceptr)(size_t)flag;
    void *parameters[] = {&address, &first};
    CHECK(cuLaunchKernel(await, 1, 1, 1, 1, 1, 1, 0, one, parameters, NULL));
    CHECK(cuMemFreeAsync(first, one));
    CHECK(cuMemAllocAsync(&other, 4096, two)); /* the kernel is still to write to `first` */
    CHECK(cuMemsetD8Async(other, 0, 4096, two));
    CHECK(cuMemAllocAsync(&again, 4096, one));
    CHECK(cuStreamSynchronize(two));
    *flag = 7;
    CHECK(cuStreamSynchronize(one));
    CHECK(cuMemcpyDtoH(&seen, other, sizeof seen));
    printf("same %d\nother %d\nuntouched %d\n", again == first, other != first, seen == 0);
    CHECK(cuMemFreeAsync(again, one));
    CHECK(cuStreamSynchronize(one));
    CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cuMemPoolTrimTo(pool, 0));
    CHECK(cuMemAllocAsync(&later, 4096, two));
    printf("later %d\n", later == first);
    return 0;
}
