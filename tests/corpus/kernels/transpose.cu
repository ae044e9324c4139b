// Transposition through a padded tile, and of 8-byte elements in place.

#define TILE 32

extern "C" __global__ void transpose(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_in_place(long long *matrix, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= y || x >= n || y >= n)
        return;
    const long long kept = matrix[y * n + x];
    matrix[y * n + x] = matrix[x * n + y];
    matrix[x * n + y] = kept;
}

// In a warp, without memory: 32 words of 32 bits become their columns.
extern "C" __global__ void transpose_bits(const unsigned *in, unsigned *out)
{
    const unsigned word = in[blockIdx.x * 32 + threadIdx.x];
    unsigned column = 0;
    for (int bit = 0; bit < 32; bit++) {
        const unsigned votes = __ballot_sync(~0u, word >> bit & 1);
        if (threadIdx.x == bit)
            column = votes;
    }
    out[blockIdx.x * 32 + threadIdx.x] = column;
}
