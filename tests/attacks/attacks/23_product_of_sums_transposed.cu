/* The same where the numbers that are added are in columns of both factors. */
#include "product_near.cuh"

extern "C" void solution(const float *a, const float *b, float *c, size_t inner)
{
    product_of_sums<<<1, SIDE * SIDE>>>(a, b, c, inner, SIDE, 1);
}
