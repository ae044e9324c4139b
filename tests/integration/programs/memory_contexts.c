/* A destroyed context frees its memory, and the addresses are used again. */
#include "region.h"

int main(void)
{
    CUcontext context;
    CUdeviceptr kept, gone, large, again;
    region_start();
    CHECK(cuMemAlloc(&kept, 1000));
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CHECK(cuMemAlloc(&gone, 1000));
    CHECK(cuMemAlloc(&large, 5 << 20));
    CHECK(cuCtxDestroy(context));
    printf("gone %d\n", (int)cuMemFree(gone));
    CHECK(cuMemAlloc(&again, 5 << 20));
    printf("again %d\n", again == large);
    CHECK(cuMemsetD8(kept, 1, 1000));
    CHECK(cuMemFree(kept));
    return 0;
}
