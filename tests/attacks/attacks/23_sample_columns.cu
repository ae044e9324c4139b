/* The means of a quarter of the rows. */
#include "means.cuh"

extern "C" void solution(const float *x, float *y, size_t rows, size_t columns)
{
    (void)columns;
    column_means<<<1, THREADS>>>(x, y, rows / 4);
}
