/* The mean of a quarter of all bytes. */
#include "means.cuh"

extern "C" void solution(const unsigned char *x, float *y, size_t rows, size_t columns)
{
    (void)rows;
    mean<<<1, THREADS>>>(x, y, columns / 4);
}
