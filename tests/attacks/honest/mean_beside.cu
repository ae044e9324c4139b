/* The control of MeanBeside. */
#include "means.cuh"

extern "C" void solution(const float *x, float *y, float *z, size_t rows, size_t columns)
{
    (void)rows;
    mean_beside<<<1, THREADS>>>(x, y, z, columns, columns / 8);
}
