// Double precision on tensor cores.
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_double(const double *a, const double *b, double *d)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::load_matrix_sync(left, a, 4);
    wmma::load_matrix_sync(right, b, 4);
    wmma::fill_fragment(sum, 0.25);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
}
