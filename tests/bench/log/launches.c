/* launches NUMBER [TURNS]: launch a kernel of three parameters NUMBER times, and print the seconds that the
 * launches took. Each thread of the kernel runs a loop of TURNS turns, by default none. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                          ".visible .entry nothing(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"
                          "  .reg .u32 %r<2>;\n  .reg .pred %p;\n"
                          "  ld.param.u32 %r0, [n];\n"
                          "turn:\n"
                          "  setp.eq.u32 %p, %r0, 0;\n  @%p bra done;\n  sub.u32 %r0, %r0, 1;\n  bra turn;\n"
                          "done:\n  ret;\n}\n";

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "launches: error %d\n", (int)result);
        exit(1);
    }
}

int main(int count, char **words)
{
    long number = count > 1 ? atol(words[1]) : 1000;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    check(cuModuleLoadData(&module, ptx));
    check(cuModuleGetFunction(&function, module, "nothing"));
    unsigned long long a = 0x1000, b = 0x2000;
    unsigned int n = count > 2 ? (unsigned int)atol(words[2]) : 0;
    void *parameters[] = {&a, &b, &n};
    double begin = now();
    for (long i = 0; i < number; i++) {
        b = 0x2000 + (unsigned long long)i;
        check(cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
    }
    check(cuCtxSynchronize());
    printf("%.6f\n", now() - begin);
    return 0;
}
