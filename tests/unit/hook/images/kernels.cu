// Source of the images beside this file; `make.sh` compiled them once, so that tests need no nvcc.
struct Options {
    double scale;
    char flags[3];
};

__device__ float table[16] = {1.0f, 2.0f};

extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i] * table[i & 15];
}

extern "C" __global__ void mixed(char c, short s, Options options, double *out)
{
    out[0] = c + s + options.scale + options.flags[2];
}

extern "C" __global__ void empty()
{
}
