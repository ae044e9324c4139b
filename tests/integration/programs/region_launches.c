/* region_launches FORM...: one launch a form, in a region, of `scale` on numbers of its own. */
#include <string.h>

#include "scale.h"
#undef CHECK /* region.h's says the line */
#include "region.h"

/* A kernel with the most bytes of parameters there may be (CUDA programming guide: 32,764). */
enum { LARGE = 32764 };
static const char large_ptx[] = ".version 8.1\n.target sm_70\n.address_size 64\n"
                                ".visible .entry large(.param .align 4 .b8 values[32764])\n{\n  ret;\n}\n";

static CUmodule module;
static CUfunction function;
static CUkernel kernel;
static CUstream stream;
static CUevent event;
static CUdeviceptr memory;
static float factor = 1.5f;
static unsigned int count = 100;

static void launch_ex(CUlaunchAttribute *attributes, unsigned int attribute_count)
{
    void *parameters[] = {&memory, &factor, &count};
    CUlaunchConfig config = {.gridDimX = 2,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 64,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = attributes,
                             .numAttrs = attribute_count};
    CHECK(cuLaunchKernelEx(&config, function, parameters, NULL));
    memset(attributes, 0xff, attribute_count * sizeof *attributes);
}

static void refused_by_the_driver(CUresult result)
{
    if (result == CUDA_SUCCESS)
        exit(1);
}

static void launch_with_event(void)
{
    void *parameters[] = {&memory, &factor, &count};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT};
    attribute.value.programmaticEvent.event = event;
    const CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, stream, &attribute, 1};
    refused_by_the_driver(cuLaunchKernelEx(&config, function, parameters, NULL));
}

static void launch_on_devices(void)
{
    void *parameters[] = {&memory, &factor, &count};
    CUDA_LAUNCH_PARAMS one = {function, 1, 1, 1, 32, 1, 1, 0, stream, parameters};
    refused_by_the_driver(cuLaunchCooperativeKernelMultiDevice(&one, 1, 0));
}

static void launch_legacy(void)
{
    CHECK(cuFuncSetBlockShape(function, 32, 1, 1));
    CHECK(cuParamSetSize(function, 16));
    CHECK(cuParamSetv(function, 0, &memory, 8));
    CHECK(cuParamSetf(function, 8, factor));
    CHECK(cuParamSeti(function, 12, count));
    CHECK(cuLaunchGrid(function, 1, 1));
}

static void launch_into_graph(void)
{
    void *parameters[] = {&memory, &factor, &count};
    CUgraph graph;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    CHECK(cuStreamEndCapture(stream, &graph));
}

static void launch_large(void)
{
    static unsigned char values[LARGE];
    void *parameters[] = {values};
    CUmodule other;
    CUfunction large;
    for (int i = 0; i < LARGE; i++)
        values[i] = (unsigned char)(i / 7);
    CHECK(cuModuleLoadData(&other, large_ptx));
    CHECK(cuModuleGetFunction(&large, other, "large"));
    CHECK(cuLaunchKernel(large, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    memset(values, 0, sizeof values);
}

static void launch(const char *form)
{
    void *parameters[] = {&memory, &factor, &count};
    unsigned char packed[16];
    size_t packed_bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes,
                     CU_LAUNCH_PARAM_END};
    CUlaunchAttribute attributes[3] = {
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -1},
        {.id = CU_LAUNCH_ATTRIBUTE_IGNORE},
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {.x = 1, .y = 1, .z = 1}}};
    memcpy(packed, &memory, 8);
    memcpy(packed + 8, &factor, 4);
    memcpy(packed + 12, &count, 4);
    if (strcmp(form, "plain") == 0)
        CHECK(cuLaunchKernel(function, 4, 3, 2, 32, 2, 1, 128, NULL, parameters, NULL));
    else if (strcmp(form, "kernel") == 0)
        CHECK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    else if (strcmp(form, "extra") == 0)
        CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, extra));
    else if (strcmp(form, "ex") == 0)
        launch_ex(attributes, 3);
    else if (strcmp(form, "cooperative") == 0)
        CHECK(cuLaunchCooperativeKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters));
    else if (strcmp(form, "cooperative_ex") == 0)
        launch_ex(&(CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}, 1);
    else if (strcmp(form, "legacy") == 0)
        launch_legacy();
    else if (strcmp(form, "shared") == 0)
        CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
    else if (strcmp(form, "carveout") == 0)
        CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    else if (strcmp(form, "failing") == 0)
        refused_by_the_driver(cuLaunchKernel(function, 0, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    else if (strcmp(form, "multi") == 0)
        launch_on_devices();
    else if (strcmp(form, "event") == 0)
        launch_with_event();
    else if (strcmp(form, "large") == 0)
        launch_large();
    else if (strcmp(form, "graph") == 0)
        launch_into_graph();
    factor += 1; /* the next one's; what was launched had the old one */
}

int main(int argc, char **argv)
{
    CUlibrary library;
    char log[256];
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_MAX_REGISTERS};
    void *values[] = {log, (void *)sizeof log, (void *)32};
    region_start();
    CHECK(cuModuleLoadDataEx(&module, scale_ptx, 3, options, values));
    CHECK(cuModuleGetFunction(&function, module, "scale"));
    CHECK(cuLibraryLoadData(&library, scale_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "scale"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    memory = region_allocate("memory", 4096);
    launch("plain");
    region_begin("launches");
    for (int i = 1; i < argc; i++)
        launch(argv[i]);
    region_end();
    CHECK(cuCtxSynchronize());
    return 0;
}
