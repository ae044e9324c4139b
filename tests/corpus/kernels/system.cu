// System calls beyond arithmetic: printf, assert, clocks, sleep, traps.
#ifndef __CUDACC_RTC__ // NVRTC has these built in
#include <assert.h>
#include <stdio.h>
#endif

extern "C" __global__ void print_values(const int *in, const double *real)
{
    if (threadIdx.x == 1) {
        printf("int %d %u %x %5d|%-5d|%05d %c %%\n", in[0], (unsigned)in[1], in[2], in[3], in[3], in[3], 'k');
        printf("real %f %.3e %g %s\n", real[0], real[1], real[2], "text");
        printf("wide %lld %llx %hd\n", 1234567890123ll, 0xfedcba9876543210ull, (short)-7);
        printf("no arguments\n");
    }
}

extern "C" __global__ void print_many(void)
{
    printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
}

extern "C" __global__ void assert_holds(const int *in, int *out)
{
    assert(in[threadIdx.x] >= 0);
    out[threadIdx.x] = in[threadIdx.x] + 1;
}

extern "C" __global__ void trap_if_asked(const int *in, int *out)
{
    if (in[threadIdx.x] < 0)
        __trap();
    out[threadIdx.x] = in[threadIdx.x] + 1;
}

// Clocks never go backwards, and move on over a sleep.
extern "C" __global__ void clocks(int *out)
{
    unsigned long long before, after;
    unsigned hi;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
    const long long cycles = clock64();
    const clock_t short_cycles = clock();
    __nanosleep(20000);
    asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(hi));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
    out[3 * threadIdx.x] = after >= before;
    out[3 * threadIdx.x + 1] = clock64() > cycles && hi <= clock64() >> 32;
    out[3 * threadIdx.x + 2] = clock() != short_cycles;
}

extern "C" __global__ void heap(int *out)
{
    int *mine = (int *)malloc(64 * sizeof(int));
    if (mine) {
        for (int i = 0; i < 64; i++)
            mine[i] = i * threadIdx.x;
        int sum = 0;
        for (int i = 0; i < 64; i++)
            sum += mine[i];
        out[threadIdx.x] = sum;
        free(mine);
    }
}
