/* Arrays, textures and surfaces of the runtime. */
#include "check.h"

#include <vector>

__global__ void read_texture(cudaTextureObject_t texture, float *to)
{
    const unsigned x = threadIdx.x, y = threadIdx.y;
    to[y * blockDim.x + x] = tex2D<float>(texture, (float)x + 1.0f, (float)y + 0.5f);
}

__global__ void read_layers(cudaTextureObject_t texture, uchar4 *to)
{
    to[threadIdx.x] = tex2DLayered<uchar4>(texture, 0.5f, 1.5f, (int)threadIdx.x);
}

__global__ void read_volume(cudaTextureObject_t texture, float *to)
{
    *to = tex3D<float>(texture, 0.5f, 0.5f, 0.5f);
}

__global__ void read_memory(cudaTextureObject_t texture, int *to)
{
    to[threadIdx.x] = tex1Dfetch<int>(texture, (int)threadIdx.x * 2);
}

__global__ void double_surface(cudaSurfaceObject_t surface)
{
    float value;
    surf2Dread(&value, surface, (int)threadIdx.x * 4, (int)threadIdx.y);
    surf2Dwrite(2 * value, surface, (int)threadIdx.x * 4, (int)threadIdx.y);
}

static void copies()
{
    float rows[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, back[2][4] = {};
    cudaArray_t first, second;
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    cudaChannelFormatDesc channel;
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaMallocArray(&first, &one, 4, 2));
    CHECK(cudaMallocArray(&second, &one, 4, 2, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(first, 0, 0, rows, 16, 16, 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DArrayToArray(second, 4, 0, first, 0, 0, 12, 2));
    CHECK(cudaMemcpy2DFromArray(back, 16, second, 4, 0, 12, 2, cudaMemcpyDeviceToHost));
    printf("moved %g %g %g, %g %g %g\n", back[0][0], back[0][1], back[0][2], back[1][0], back[1][1],
           back[1][2]);
    CHECK(cudaMemcpyToArrayAsync(first, 8, 0, rows, 20, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyFromArray(back, first, 8, 0, 24, cudaMemcpyDeviceToHost));
    printf("flat %g %g | %g %g %g %g\n", back[0][0], back[0][1], back[0][2], back[0][3], back[1][0],
           back[1][1]);
    CHECK(cudaArrayGetInfo(&channel, &extent, &flags, second));
    printf("of %d bits, kind %d, %zu x %zu x %zu, flags %u\n", channel.x, channel.f, extent.width,
           extent.height, extent.depth, flags);
    cudaResourceDesc resource = {};
    cudaSurfaceObject_t surface;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = second;
    CHECK(cudaMemcpy2DToArrayAsync(second, 0, 0, rows, 16, 16, 2, cudaMemcpyDefault, 0));
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    double_surface<<<1, dim3(4, 2)>>>(surface);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaMemcpy2DFromArrayAsync(back, 16, second, 0, 0, 16, 2, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaDeviceSynchronize());
    printf("doubled %g %g\n", back[0][0], back[1][3]);
    resource.res.array.array = first;
    printf("surface of another array: %s\n", cudaGetErrorName(cudaCreateSurfaceObject(&surface, &resource)));
    CHECK(cudaFreeArray(first));
    CHECK(cudaFreeArray(second));
    CHECK(cudaFreeArray(nullptr));
}

static void textures()
{
    unsigned char pixels[4][4] = {{0, 51, 102, 153}, {255, 204, 0, 51}, {0, 0, 0, 0}, {255, 255, 255, 255}};
    float *device, host[8];
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaResourceDesc resource = {}, found;
    cudaTextureDesc how = {}, known;
    const cudaChannelFormatDesc byte = cudaCreateChannelDesc<unsigned char>();
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMallocArray(&array, &byte, 4, 4));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels, 4, 4, 4, cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.filterMode = cudaFilterModeLinear;
    printf("integers filtered: %s\n",
           cudaGetErrorName(cudaCreateTextureObject(&texture, &resource, &how, nullptr)));
    how.readMode = cudaReadModeNormalizedFloat;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read_texture<<<1, dim3(4, 2)>>>(texture, device);
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    printf("normalized %.3f %.3f %.3f %.3f, %.3f\n", host[0], host[1], host[2], host[3], host[4]);
    CHECK(cudaGetTextureObjectResourceDesc(&found, texture));
    CHECK(cudaGetTextureObjectTextureDesc(&known, texture));
    printf("descriptions kept: %d\n", found.res.array.array == array && known.filterMode == how.filterMode &&
                                          known.readMode == how.readMode &&
                                          known.addressMode[1] == how.addressMode[1]);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    int *words, answers[4];
    std::vector<int> numbers = {10, 11, 12, 13, 14, 15};
    CHECK(cudaMalloc(&words, 64));
    CHECK(cudaMemcpy(words, numbers.data(), 24, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = words;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = 24;
    how = {};
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read_memory<<<1, 4>>>(texture, (int *)device);
    CHECK(cudaMemcpy(answers, device, sizeof answers, cudaMemcpyDeviceToHost));
    printf("fetched %d %d %d, outside %d\n", answers[0], answers[1], answers[2], answers[3]);
    how.readMode = cudaReadModeNormalizedFloat;
    printf("words normalized: %s\n",
           cudaGetErrorName(cudaCreateTextureObject(&texture, &resource, &how, nullptr)));
}

static void volumes()
{
    float *device, value, box[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, back[2][2][2] = {};
    uchar4 pixels[3][2][1] = {{{{0, 1, 2, 3}}, {{4, 5, 6, 7}}}, {{{8, 8, 8, 8}}, {{9, 10, 11, 12}}}, {}},
           read[3];
    cudaArray_t volume, layers;
    cudaTextureObject_t texture;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>(), four = cudaCreateChannelDesc<uchar4>();
    CHECK(cudaMalloc(&device, 64));
    CHECK(cudaMalloc3DArray(&volume, &one, make_cudaExtent(2, 2, 2)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(box, 8, 2, 2);
    copy.dstArray = volume;
    copy.extent = make_cudaExtent(2, 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaMemcpy3DParms slice = {};
    slice.srcArray = volume;
    slice.srcPos = make_cudaPos(1, 0, 1);
    slice.dstPtr = make_cudaPitchedPtr(back, 8, 2, 2);
    slice.extent = make_cudaExtent(1, 2, 1);
    slice.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3DAsync(&slice, 0));
    CHECK(cudaDeviceSynchronize());
    printf("slice %g %g\n", back[0][0][0], back[0][1][0]);
    slice.srcPos = make_cudaPos(2, 0, 0);
    printf("outside: %s\n", cudaGetErrorName(cudaMemcpy3D(&slice)));
    cudaPitchedPtr pitched;
    unsigned char bytes[2][3][4];
    CHECK(cudaMalloc3D(&pitched, make_cudaExtent(4, 3, 2)));
    CHECK(cudaMemset3D(pitched, 1, make_cudaExtent(4, 3, 2)));
    CHECK(cudaMemset3DAsync(pitched, 2, make_cudaExtent(3, 2, 2), nullptr));
    CHECK(cudaMemcpy2D(bytes, 4, pitched.ptr, pitched.pitch, 4, 6, cudaMemcpyDeviceToHost));
    std::printf("filled %d %d %d, %d\n", bytes[0][1][2], bytes[0][2][0], bytes[1][1][2], bytes[1][0][3]);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = volume;
    how.filterMode = cudaFilterModeLinear;
    how.normalizedCoords = 1;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read_volume<<<1, 1>>>(texture, device);
    CHECK(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost));
    printf("middle %g\n", value);
    CHECK(cudaMalloc3DArray(&layers, &four, make_cudaExtent(1, 2, 3), cudaArrayLayered));
    copy = {};
    copy.srcPtr = make_cudaPitchedPtr(pixels, 4, 1, 2);
    copy.dstArray = layers;
    copy.extent = make_cudaExtent(1, 2, 3);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    resource.res.array.array = layers;
    how = {};
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read_layers<<<1, 2>>>(texture, (uchar4 *)device);
    CHECK(cudaMemcpy(read, device, 8, cudaMemcpyDeviceToHost));
    printf("layers %d %d, %d %d\n", read[0].x, read[0].w, read[1].x, read[1].w);
    const cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned};
    printf("three channels: %s\n", cudaGetErrorName(cudaMallocArray(&layers, &three, 4)));
}

int main()
{
    copies();
    textures();
    volumes();
}
