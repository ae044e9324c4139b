/* Globals of modules: used by a kernel, uploaded to, given to a kernel by address, never used. */
#include <string.h>

#include "region.h"

static const char code[] = "\n.version 7.5\n.target sm_75\n.address_size 64\n"
                           ".global .align 4 .u32 counter = 5;\n"
                           ".global .align 4 .b8 table[16] = {1, 2, 3};\n"
                           ".const .align 4 .b8 weights[8];\n"
                           ".visible .entry count(.param .u64 to)\n"
                           "{\n"
                           "  .reg .b32 %r<4>;\n  .reg .b64 %rd<3>;\n"
                           "  ld.param.u64 %rd1, [to];\n"
                           "  cvta.to.global.u64 %rd2, %rd1;\n"
                           "  ld.global.u32 %r1, [counter];\n"
                           "  ld.const.u32 %r2, [weights+4];\n"
                           "  add.u32 %r3, %r1, %r2;\n"
                           "  st.global.u32 [counter], %r3;\n"
                           "  st.global.u32 [%rd2], %r3;\n"
                           "  ret;\n}\n";

static const char other_code[] = "\n.version 7.5\n.target sm_75\n.address_size 64\n"
                                 ".global .align 4 .u32 unused = 9;\n"
                                 ".global .align 4 .b8 target[16];\n";

static void launch(CUfunction function, CUdeviceptr to)
{
    void *parameters[] = {&to};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
}

int main(void)
{
    CUmodule module;
    CUlibrary library;
    CUfunction count;
    CUdeviceptr weights, table, target;
    size_t bytes;
    unsigned value = 3;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    CHECK(cuModuleLoadData(&module, code));
    CHECK(cuLibraryLoadData(&library, other_code, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuModuleGetFunction(&count, module, "count"));
    CHECK(cuModuleGetGlobal(&weights, &bytes, module, "weights"));
    CHECK(cuModuleGetGlobal(&table, NULL, module, "table"));
    CHECK(cuLibraryGetGlobal(&target, NULL, library, "target"));
    printf("weights %llu\ntable %llu\ntarget %llu\n", (unsigned long long)weights, (unsigned long long)table,
           (unsigned long long)target);
    CHECK(cuMemcpyHtoD(weights + 4, &value, sizeof value));
    launch(count, memory);
    region_begin("globals");
    CHECK(cuMemsetD8(target, 7, 4)); /* of a module that no kernel of the region is of */
    launch(count, memory);
    value = 100;
    CHECK(cuMemcpyHtoD(weights + 4, &value, sizeof value));
    launch(count, memory);
    launch(count, table + 4);
    region_end();
    region_begin("once more");
    launch(count, memory);
    region_end();
    return 0;
}
