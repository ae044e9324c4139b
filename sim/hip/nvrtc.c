#include "hip/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct hip_nvrtc found;
static bool is_found;
static char missing[1024];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool resolve(void *library)
{
    const struct {
        const char *name;
        void *slot;
    } functions[] = {
        {"nvrtcCreateProgram", &found.create},
        {"nvrtcDestroyProgram", &found.destroy},
        {"nvrtcCompileProgram", &found.compile},
        {"nvrtcGetPTXSize", &found.ptx_size},
        {"nvrtcGetPTX", &found.ptx},
        {"nvrtcGetProgramLogSize", &found.log_size},
        {"nvrtcGetProgramLog", &found.log},
        {"nvrtcAddNameExpression", &found.add_name},
        {"nvrtcGetLoweredName", &found.lowered_name},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *const address = dlsym(library, functions[i].name);
        if (address == NULL)
            return false;
        memcpy(functions[i].slot, &address, sizeof address);
    }
    return true;
}

/* The wheel and the toolkit have include/ beside the library folder. */
static void find_includes(void)
{
    static const char *const beside[] = {"../include", "../../../include"};
    Dl_info info;
    void *address;
    memcpy(&address, &found.create, sizeof address);
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return;
    const char *const slash = strrchr(info.dli_fname, '/');
    for (size_t i = 0; slash != NULL && i < sizeof beside / sizeof *beside; i++) {
        char header[sizeof found.includes + 32];
        const int written = snprintf(found.includes, sizeof found.includes, "--include-path=%.*s/%s",
                                     (int)(slash - info.dli_fname), info.dli_fname, beside[i]);
        const bool fits = written > 0 && (size_t)written < sizeof found.includes;
        (void)snprintf(header, sizeof header, "%s/cuda_fp16.h", strchr(found.includes, '=') + 1);
        if (fits && access(header, R_OK) == 0)
            return;
    }
    found.includes[0] = '\0';
}

static void open_library(void)
{
    const char *const named = getenv(NVRTC_VARIABLE);
    const char *const places[] = {named, "libnvrtc.so.13", "libnvrtc.so.12"};
    const size_t first = named != NULL && named[0] != '\0' ? 0 : 1, last = first == 0 ? 1 : 3;
    for (size_t i = first; i < last && !is_found; i++) {
        void *const library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
        is_found = library != NULL && resolve(library);
    }
    if (is_found)
        find_includes();
    else
        (void)snprintf(missing, sizeof missing,
                       "no NVRTC, which compiles HIP for the CPU driver: %s does not load; pip install "
                       "nvidia-cuda-nvrtc, and say in $" NVRTC_VARIABLE " where libnvrtc.so.13 is\n",
                       first == 0 ? named : "libnvrtc.so.13");
}

const struct hip_nvrtc *hip_nvrtc(void)
{
    (void)pthread_once(&once, open_library);
    return is_found ? &found : NULL;
}

const char *hip_nvrtc_missing(void)
{
    return missing;
}
