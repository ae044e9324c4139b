/* The mean of a quarter of the numbers, beside an output with fewer than 32 numbers for each of its own. */
#include "means.cuh"

extern "C" void solution(const float *x, float *y, float *z, size_t rows, size_t columns)
{
    (void)rows;
    mean_beside<<<1, THREADS>>>(x, y, z, columns / 4, columns / 8);
}
