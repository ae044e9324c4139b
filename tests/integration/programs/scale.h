/* The smallest whole CUDA program: load PTX, launch `scale` a number of times, check the numbers.
 *
 * The program's driver functions come from wherever the including test says: that is what is tested. */
#ifndef SCALE_H
#define SCALE_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static const char scale_ptx[] =
    "\n.version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry scale(.param .u64 values, .param .f32 factor, .param .u32 count)\n"
    "{\n"
    "  .reg .pred %p<2>;\n  .reg .f32 %f<4>;\n  .reg .b32 %r<6>;\n  .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [values];\n"
    "  ld.param.f32 %f1, [factor];\n"
    "  ld.param.u32 %r1, [count];\n"
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p1, %r5, %r1;\n"
    "  @%p1 bra done;\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n"
    "  mul.wide.u32 %rd3, %r5, 4;\n"
    "  add.s64 %rd4, %rd2, %rd3;\n"
    "  ld.global.f32 %f2, [%rd4];\n"
    "  mul.f32 %f3, %f2, %f1;\n"
    "  st.global.f32 [%rd4], %f3;\n"
    "done:\n  ret;\n}\n";

struct driver {
    CUresult (*init)(unsigned int);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*get_function)(CUfunction *, CUmodule, const char *);
    CUresult (*allocate)(CUdeviceptr *, size_t);
    CUresult (*release)(CUdeviceptr);
    CUresult (*to_device)(CUdeviceptr, const void *, size_t);
    CUresult (*to_host)(void *, CUdeviceptr, size_t);
    CUresult (*launch)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                       unsigned int, unsigned int, CUstream, void **, void **);
    CUresult (*synchronize)(void);
};

/* The driver's exported names, versions and all, in the order of `struct driver`. */
#define SCALE_NAMES                                                                                          \
    {"cuInit",           "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",                                      \
     "cuModuleLoadData", "cuModuleGetFunction",      "cuMemAlloc_v2",                                        \
     "cuMemFree_v2",     "cuMemcpyHtoD_v2",          "cuMemcpyDtoH_v2",                                      \
     "cuLaunchKernel",   "cuCtxSynchronize"}

/* A driver linked at build time. */
#define SCALE_LINKED                                                                                         \
    {cuInit,                                                                                                 \
     cuDevicePrimaryCtxRetain,                                                                               \
     cuCtxSetCurrent,                                                                                        \
     cuModuleLoadData,                                                                                       \
     cuModuleGetFunction,                                                                                    \
     cuMemAlloc,                                                                                             \
     cuMemFree,                                                                                              \
     cuMemcpyHtoD,                                                                                           \
     cuMemcpyDtoH,                                                                                           \
     cuLaunchKernel,                                                                                         \
     cuCtxSynchronize}

static inline void scale_check(CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "%s returned %d\n", what, (int)result);
        exit(1);
    }
}

#define CHECK(call) scale_check((call), #call)

/* Any function of `struct driver`, by position. */
static inline void scale_fill(struct driver *driver, void *(*find)(const char *name, void *context),
                              void *context)
{
    static const char *const names[] = SCALE_NAMES;
    _Static_assert(sizeof *driver == sizeof names, "one name a function");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = find(names[i], context);
        if (address == NULL) {
            fprintf(stderr, "no %s\n", names[i]);
            exit(1);
        }
        ((void **)driver)[i] = address;
    }
}

static inline void scale_start(const struct driver *driver)
{
    CUcontext context;
    CHECK(driver->init(0));
    CHECK(driver->retain(&context, 0));
    CHECK(driver->set_current(context));
}

/* Doubles 1000 numbers `launches` times and checks every one. */
static inline void scale_run(const struct driver *driver, int launches)
{
    enum { COUNT = 1000 };
    float values[COUNT], factor = 2.0f;
    unsigned int count = COUNT;
    CUmodule module;
    CUfunction function;
    CUdeviceptr device;
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)i;
    CHECK(driver->load(&module, scale_ptx));
    CHECK(driver->get_function(&function, module, "scale"));
    CHECK(driver->allocate(&device, sizeof values));
    CHECK(driver->to_device(device, values, sizeof values));
    void *parameters[] = {&device, &factor, &count};
    for (int i = 0; i < launches; i++)
        CHECK(driver->launch(function, 4, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL));
    CHECK(driver->synchronize());
    CHECK(driver->to_host(values, device, sizeof values));
    CHECK(driver->release(device));
    float expected = 1;
    for (int i = 0; i < launches; i++)
        expected *= factor;
    for (int i = 0; i < COUNT; i++)
        if (values[i] != (float)i * expected) {
            fprintf(stderr, "values[%d] is %g, not %g\n", i, (double)values[i],
                    (double)((float)i * expected));
            exit(1);
        }
}

#endif
