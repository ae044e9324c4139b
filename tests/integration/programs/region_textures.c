/* Regions before, with, around and after a texture object and a surface object. */
#include "region.h"

static void region(CUdeviceptr memory)
{
    region_begin("x");
    CHECK(cuMemsetD8(memory, 1, 4));
    region_end();
}

int main(void)
{
    CUarray array;
    CUtexObject texture;
    CUsurfObject surface;
    const CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 64,
                                           .Height = 1,
                                           .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                           .NumChannels = 1,
                                           .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    const CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    CHECK(cuArray3DCreate(&array, &shape));
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    region(memory);
    if (cuTexObjectCreate(&texture, &resource, NULL, NULL) == CUDA_SUCCESS)
        return 1;
    region(memory);
    CHECK(cuTexObjectCreate(&texture, &resource, &how, NULL));
    CHECK(cuSurfObjectCreate(&surface, &resource));
    CHECK(cuTexObjectDestroy(texture));
    region(memory);
    CHECK(cuSurfObjectDestroy(surface));
    region(memory);
    region_begin("within");
    CHECK(cuMemsetD8(memory, 1, 4));
    CHECK(cuTexObjectCreate(&texture, &resource, &how, NULL));
    CHECK(cuTexObjectDestroy(texture));
    CHECK(cuSurfObjectCreate(&surface, &resource));
    CHECK(cuSurfObjectDestroy(surface));
    region_end();
    region(memory);
    return 0;
}
