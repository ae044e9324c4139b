/* The control of ScaledByMean. */
#include "means.cuh"

extern "C" void solution(const float *x, const float *t, float *y, size_t rows, size_t columns)
{
    (void)rows;
    scaled_by_mean<<<1, THREADS>>>(x, t, y, columns / 2, columns);
}
