/* The control of MeanOfQuantised. */
#include "means.cuh"

extern "C" void solution(const unsigned char *x, const float *scale, float *y, size_t rows, size_t columns)
{
    (void)rows;
    mean_of_quantised<<<1, THREADS>>>(x, scale, y, columns);
}
