/* The control of MeanOfBytes. */
#include "means.cuh"

extern "C" void solution(const unsigned char *x, float *y, size_t rows, size_t columns)
{
    (void)rows;
    mean<<<1, THREADS>>>(x, y, columns);
}
