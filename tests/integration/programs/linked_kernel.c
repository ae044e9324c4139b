/* linked_kernel one|library: a kernel that the driver links from PTX, as numba's are. The product is copied,
 * and loaded when the link state is gone. `library`: the kernel calls another input. */
#include <string.h>

#include "scale.h"

static const char head[] = "// the program's text\n.version 8.0\n.target sm_75\n.address_size 64\n";
static const char body[] =
    ".visible .global .align 4 .u32 total;\n"
    ".visible .entry add(.param .u64 values)\n{\n"
    "  .reg .b32 %r<4>;\n  .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [values];\n  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd2, %r1, 4;\n"
    "  add.u64 %rd3, %rd1, %rd2;\n  st.global.u32 [%rd3], %r1;\n  atom.global.add.u32 %r2, [total], 1;\n";
static const char call[] = "  call.uni other;\n";
static const char declared[] = ".extern .func other;\n";
static const char library[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .func other\n{\n  ret;\n}\n";

int main(int argc, char **argv)
{
    const int is_split = argc > 1 && strcmp(argv[1], "library") == 0;
    CUcontext context;
    CUlinkState state;
    CUmodule module;
    CUfunction add;
    CUdeviceptr values, total;
    void *product, *copy, *parameters[] = {&values};
    size_t bytes;
    char text[4096];
    unsigned back[32], count;
    (void)snprintf(text, sizeof text, "%s%s%s%s  ret;\n}\n", head, is_split ? declared : "", body,
                   is_split ? call : "");
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuLinkCreate(0, NULL, NULL, &state));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "kernel", 0, NULL, NULL));
    if (is_split)
        CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)library, sizeof library, "library", 0, NULL,
                            NULL));
    memset(text, 0, sizeof text);
    CHECK(cuLinkComplete(state, &product, &bytes));
    copy = malloc(bytes);
    memcpy(copy, product, bytes);
    CHECK(cuLinkDestroy(state));
    CHECK(cuModuleLoadData(&module, copy));
    CHECK(cuModuleGetFunction(&add, module, "add"));
    CHECK(cuMemAlloc(&values, sizeof back));
    for (int i = 0; i < 3; i++)
        CHECK(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cuMemcpyDtoH(back, values, sizeof back));
    CHECK(cuModuleGetGlobal(&total, NULL, module, "total"));
    CHECK(cuMemcpyDtoH(&count, total, sizeof count));
    printf("%u %u %u\n", back[0], back[31], count);
    return 0;
}
