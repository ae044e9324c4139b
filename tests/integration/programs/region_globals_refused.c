/* Globals that no capture holds: managed ones, too many, those of a module that is unloaded. */
#include "region.h"

static const char managed[] = "\n.version 7.5\n.target sm_75\n.address_size 64\n"
                              ".global .attribute(.managed) .align 4 .u32 everyones;\n"
                              ".visible .entry nothing()\n{\n  ret;\n}\n";
static const char large[] = "\n.version 7.5\n.target sm_75\n.address_size 64\n"
                            ".global .align 4 .b8 small[4];\n"
                            ".global .align 4 .b8 large[67108864];\n"
                            ".visible .entry nothing()\n{\n  ret;\n}\n";

static CUmodule launch_of(const char *code)
{
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoadData(&module, code));
    CHECK(cuModuleGetFunction(&function, module, "nothing"));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    return module;
}

int main(void)
{
    region_start();
    region_begin("refused");
    launch_of(managed);
    const CUmodule module = launch_of(large);
    CHECK(cuCtxSynchronize());
    CHECK(cuModuleUnload(module));
    region_end();
    return 0;
}
