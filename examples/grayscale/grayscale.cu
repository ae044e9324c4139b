/* One thread turns one pixel grey. The weights are those of ITU-R BT.601 in 256ths, so that the result is
 * an integer on every device, and exactly numpy's. */
extern "C" __global__ void grayscale(const unsigned char *rgb, unsigned char *grey, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int pixel = y * width + x;
    const unsigned char *const colour = rgb + 3 * pixel;
    grey[pixel] = (unsigned char)((77 * colour[0] + 150 * colour[1] + 29 * colour[2] + 128) >> 8);
}
