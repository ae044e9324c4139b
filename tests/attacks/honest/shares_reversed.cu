/* The control of SharesReversed. */
#include "means.cuh"

extern "C" void solution(const float *x, float *y, size_t rows, size_t columns)
{
    (void)rows;
    shares_reversed<<<1, THREADS>>>(x, y, columns, columns);
}
