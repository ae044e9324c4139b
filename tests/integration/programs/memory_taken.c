/* The arena's addresses are in use: the program runs all the same. */
#include <sys/mman.h>

#include "region.h"

int main(void)
{
    void *there =
        mmap((void *)0x300000000000, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (there == MAP_FAILED)
        return 1;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    CHECK(cuMemsetD8(memory, 1, 4096));
    region_begin("taken");
    region_end();
    CHECK(cuMemFree(memory));
    return 0;
}
