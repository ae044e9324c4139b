/* A thread turns four pixels grey: three words read, one written. */
#include <cstdint>

#include <cuda_runtime.h>

static __device__ uint32_t grey_of(uint32_t red, uint32_t green, uint32_t blue)
{
    return (77 * red + 150 * green + 29 * blue + 128) >> 8;
}

static __device__ uint32_t byte_of(uint32_t word, int place)
{
    return (word >> (8 * place)) & 255;
}

static __global__ void grey_words(const uint32_t *rgb, uint32_t *grey, size_t words)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    const uint32_t a = rgb[3 * i], b = rgb[3 * i + 1], c = rgb[3 * i + 2];
    const uint32_t first = grey_of(byte_of(a, 0), byte_of(a, 1), byte_of(a, 2));
    const uint32_t second = grey_of(byte_of(a, 3), byte_of(b, 0), byte_of(b, 1));
    const uint32_t third = grey_of(byte_of(b, 2), byte_of(b, 3), byte_of(c, 0));
    const uint32_t fourth = grey_of(byte_of(c, 1), byte_of(c, 2), byte_of(c, 3));
    grey[i] = first | second << 8 | third << 16 | fourth << 24;
}

static __global__ void grey_rest(const uint8_t *rgb, uint8_t *grey, size_t begin, size_t pixels)
{
    const size_t i = begin + threadIdx.x;
    if (i < pixels)
        grey[i] = (uint8_t)grey_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

extern "C" void solution(const uint8_t *rgb, uint8_t *grey, size_t height, size_t width)
{
    const size_t pixels = height * width, words = pixels / 4;
    if (words > 0)
        grey_words<<<(words + 255) / 256, 256>>>((const uint32_t *)rgb, (uint32_t *)grey, words);
    if (pixels % 4 != 0)
        grey_rest<<<1, 4>>>(rgb, grey, 4 * words, pixels);
}
