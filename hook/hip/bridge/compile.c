/* Compiles the replay engine's own kernels for the device: HIP C++, because no AMD machine code runs on every
 * device. A device of another vendor (the CPU driver's) takes PTX where hiprtc is missing. */
#include "hip/driver/hip.h"

#include <hip/hiprtc.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* hiprtc. It is part of the HIP library up to 5, and a library of its own in later releases. */
struct compiler {
    void *library;
    __typeof__(&hiprtcCreateProgram) create;
    __typeof__(&hiprtcDestroyProgram) destroy;
    __typeof__(&hiprtcCompileProgram) compile;
    __typeof__(&hiprtcGetProgramLogSize) log_size;
    __typeof__(&hiprtcGetProgramLog) log;
    __typeof__(&hiprtcGetCodeSize) code_size;
    __typeof__(&hiprtcGetCode) code;
};

static void *open_beside(const char *file)
{
    char path[4096];
    Dl_info about;
    void *const hip = nb_hip_find("hipInit");
    if (hip == NULL || dladdr(hip, &about) == 0 || about.dli_fname == NULL)
        return NULL;
    const char *const end = strrchr(about.dli_fname, '/');
    const int folder = end != NULL ? (int)(end + 1 - about.dli_fname) : 0;
    snprintf(path, sizeof path, "%.*s%s", folder, about.dli_fname, file);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool find_compiler(struct compiler *compiler)
{
    char file[32];
    snprintf(file, sizeof file, "libhiprtc.so.%u", nb_hip_version() / 100);
    *compiler = (struct compiler){0};
    if (nb_hip_find("hiprtcCompileProgram") == NULL) {
        compiler->library = open_beside(file);
        if (compiler->library == NULL)
            compiler->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (compiler->library == NULL)
            return false;
    }
    const struct {
        const char *name;
        void *place;
    } functions[] = {
        {"hiprtcCreateProgram", &compiler->create},   {"hiprtcDestroyProgram", &compiler->destroy},
        {"hiprtcCompileProgram", &compiler->compile}, {"hiprtcGetProgramLogSize", &compiler->log_size},
        {"hiprtcGetProgramLog", &compiler->log},      {"hiprtcGetCodeSize", &compiler->code_size},
        {"hiprtcGetCode", &compiler->code},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *const function = compiler->library != NULL ? dlsym(compiler->library, functions[i].name)
                                                         : nb_hip_find(functions[i].name);
        if (function == NULL)
            return false;
        memcpy(functions[i].place, &function, sizeof function);
    }
    return true;
}

/* ---- the device ---------------------------------------------------------------------------------------- */

#if HIP_VERSION_MAJOR >= 6
#define GET_PROPERTIES "hipGetDevicePropertiesR0600"
#else
#define GET_PROPERTIES "hipGetDeviceProperties" /* this layout in 6 and 7, too */
#endif

/* Finds the target, such as "gfx90a:sramecc+:xnack-". Returns false if the library does not report one. */
static bool find_target(int device, char *target, size_t bytes)
{
    union {
        hipDeviceProp_t properties;
        char room[8192]; /* if the library's structure is larger than the header's */
    } function = {0};
    hipError_t (*get)(hipDeviceProp_t *, int) = NULL;
    void *const address = nb_hip_find(GET_PROPERTIES);
    memcpy(&get, &address, sizeof get);
    if (get == NULL || get(&function.properties, device) != hipSuccess)
        return false;
    snprintf(target, bytes, "%.*s", (int)sizeof function.properties.gcnArchName,
             function.properties.gcnArchName);
    return target[0] != '\0';
}

/* The rate of wall_clock64. Libraries before 5.4 lack the attribute; all devices so far run at 100 MHz. */
static int wall_clock_khz(int device)
{
    enum { WALL_CLOCK_RATE = 10017, USUAL_KHZ = 100000 };
    int khz = 0;
    const hipError_t result = HIP(hipDeviceGetAttribute)(&khz, (hipDeviceAttribute_t)WALL_CLOCK_RATE, device);
    return result == hipSuccess && khz > 0 ? khz : USUAL_KHZ;
}

/* ---- compiling ----------------------------------------------------------------------------------------- */

static void take_log(const struct compiler *compiler, hiprtcProgram program, char *log, size_t log_bytes)
{
    size_t bytes = 0;
    if (compiler->log_size(program, &bytes) != HIPRTC_SUCCESS || bytes == 0)
        return;
    char *const whole = calloc(bytes + 1, 1);
    if (whole != NULL && compiler->log(program, whole) == HIPRTC_SUCCESS)
        snprintf(log, log_bytes, "%s", whole);
    free(whole);
}

static CUresult load(const struct compiler *compiler, hiprtcProgram program, CUmodule *module)
{
    size_t bytes = 0;
    if (compiler->code_size(program, &bytes) != HIPRTC_SUCCESS || bytes == 0)
        return CUDA_ERROR_INVALID_IMAGE;
    char *const code = calloc(bytes, 1);
    if (code == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    if (compiler->code(program, code) == HIPRTC_SUCCESS)
        result = cuModuleLoadDataEx(module, code, 0, NULL, NULL);
    free(code);
    return result;
}

static CUresult compile(const struct compiler *compiler, const char *source, int device, const char *target,
                        CUmodule *module, char *log, size_t log_bytes)
{
    char architecture[320], rate[48];
    hiprtcProgram program = NULL;
    snprintf(architecture, sizeof architecture, "--offload-arch=%s", target);
    snprintf(rate, sizeof rate, "-DNB_WALL_CLOCK_KHZ=%d", wall_clock_khz(device));
    const char *options[] = {architecture, rate};
    if (compiler->create(&program, source, "neutrino.hip", 0, NULL, NULL) != HIPRTC_SUCCESS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = CUDA_ERROR_INVALID_SOURCE;
    if (compiler->compile(program, 2, options) == HIPRTC_SUCCESS)
        result = load(compiler, program, module);
    else
        take_log(compiler, program, log, log_bytes);
    (void)compiler->destroy(&program);
    return result;
}

/* Writes one line to `log` if it fails. Returns CUDA_ERROR_NOT_SUPPORTED without hiprtc. */
__attribute__((visibility("default"))) CUresult nb_module_load_source(CUmodule *module, const char *source,
                                                                      const char *ptx, char *log,
                                                                      size_t log_bytes)
{
    struct compiler compiler;
    char target[300];
    int device = 0;
    if (HIP(hipGetDevice)(&device) != hipSuccess || !find_target(device, target, sizeof target)) {
        snprintf(log, log_bytes, "the HIP library reports no target for this device");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (find_compiler(&compiler))
        result = compile(&compiler, source, device, target, module, log, log_bytes);
    else
        snprintf(log, log_bytes,
                 "no libhiprtc.so.%u beside the HIP library or on the loader's path; install hiprtc",
                 nb_hip_version() / 100);
    const bool is_amd = strncmp(target, "gfx", 3) == 0;
    return result == CUDA_SUCCESS || is_amd ? result : cuModuleLoadDataEx(module, ptx, 0, NULL, NULL);
}
