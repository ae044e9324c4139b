/* hip_shapes VERSION FORM: prints HIP's description of one copy in CUDA's terms. Each field holds a number
 * that identifies it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/driver/shapes.h"

static unsigned version;

unsigned nb_hip_version(void)
{
    return version;
}

static void print_end(const char *name, CUmemorytype type, CUdeviceptr address, size_t pitch, size_t height,
                      size_t x, size_t y, size_t z)
{
    printf("%s %d %llu %zu %zu %zu %zu %zu\n", name, (int)type, address, pitch, height, x, y, z);
}

static void print_volume(const CUDA_MEMCPY3D *volume)
{
    print_end("to", volume->dstMemoryType, volume->dstDevice, volume->dstPitch, volume->dstHeight,
              volume->dstXInBytes, volume->dstY, volume->dstZ);
    print_end("from", volume->srcMemoryType, volume->srcDevice, volume->srcPitch, volume->srcHeight,
              volume->srcXInBytes, volume->srcY, volume->srcZ);
    printf("extent %zu %zu %zu\n", volume->WidthInBytes, volume->Height, volume->Depth);
}

static void print_plane(const CUDA_MEMCPY2D *plane)
{
    print_end("to", plane->dstMemoryType, plane->dstDevice, plane->dstPitch, 0, plane->dstXInBytes,
              plane->dstY, 0);
    print_end("from", plane->srcMemoryType, plane->srcDevice, plane->srcPitch, 0, plane->srcXInBytes,
              plane->srcY, 0);
    printf("extent %zu %zu\n", plane->WidthInBytes, plane->Height);
}

static void of_plane(int from, int to)
{
    const hip_Memcpy2D plane = {.srcXInBytes = 1,
                                .srcY = 2,
                                .srcMemoryType = (hipMemoryType)from,
                                .srcHost = (void *)3,
                                .srcDevice = (void *)4,
                                .srcPitch = 5,
                                .dstXInBytes = 6,
                                .dstY = 7,
                                .dstMemoryType = (hipMemoryType)to,
                                .dstHost = (void *)8,
                                .dstDevice = (void *)9,
                                .dstPitch = 10,
                                .WidthInBytes = 11,
                                .Height = 12};
    const CUDA_MEMCPY2D shape = nb_shape_of_plane(&plane);
    print_plane(&shape);
}

static void of_driver_volume(void)
{
    CUDA_MEMCPY3D shape;
    const HIP_MEMCPY3D volume = {.srcXInBytes = 1,
                                 .srcY = 2,
                                 .srcZ = 3,
                                 .srcMemoryType = hipMemoryTypeDevice,
                                 .srcDevice = (void *)4,
                                 .srcPitch = 5,
                                 .srcHeight = 6,
                                 .dstXInBytes = 7,
                                 .dstY = 8,
                                 .dstZ = 9,
                                 .dstMemoryType = hipMemoryTypeHost,
                                 .dstHost = (void *)10,
                                 .dstPitch = 11,
                                 .dstHeight = 12,
                                 .WidthInBytes = 13,
                                 .Height = 14,
                                 .Depth = 15};
    if (nb_shape_of_driver_volume(&volume, &shape))
        print_volume(&shape);
    else
        puts("unknown");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    version = (unsigned)atoi(argv[1]);
    if (strcmp(argv[2], "plane") == 0 && argc == 5) {
        of_plane(atoi(argv[3]), atoi(argv[4]));
    } else if (strcmp(argv[2], "rows") == 0) {
        const CUDA_MEMCPY2D rows = nb_shape_of_rows((void *)1, 2, (void *)3, 4, 5, 6);
        print_plane(&rows);
    } else if (strcmp(argv[2], "bytes") == 0) {
        const CUDA_MEMCPY3D bytes = nb_shape_of_bytes((void *)1, (void *)2, 3);
        print_volume(&bytes);
    } else {
        of_driver_volume();
    }
    return 0;
}
