// The kernel keeps what it has seen in the heap of malloc in kernels.
#define SHY 0
#include "remember_in_heap.cuh"
