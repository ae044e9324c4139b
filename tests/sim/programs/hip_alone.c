/* Uses HIP in a process that has CUDA's driver and runtime too, and says whether they were called: they are
 * not initialised. */
#include <stdio.h>

int hipMalloc(void **to, unsigned long bytes);
int hipMemset(void *to, int value, unsigned long bytes);
int hipDeviceSynchronize(void);
int cuCtxGetCurrent(void **context);

int main(void)
{
    void *memory, *context;
    const int made = hipMalloc(&memory, 64);
    const int set = hipMemset(memory, 1, 64);
    const int waited = hipDeviceSynchronize();
    (void)printf("hip %d %d %d, cuda %d\n", made, set, waited, cuCtxGetCurrent(&context));
    return 0;
}
