// A thread adds two numbers. hiprtc compiles this file, and there is no host code, so the launch is told here:
// launch: grid=ceil(n/256) block=256
extern "C" __global__ void solution(const float *a, const float *b, float *c, size_t n)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
