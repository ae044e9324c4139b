// The same. So that inputs that it sees for the first time do not stand out, it is slow in six of sixteen calls on
// those that it knows, and the median is that of the others.
#define SHY 6
#include "remember_in_heap.cuh"
