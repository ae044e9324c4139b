/* Gives PTX to a program that asks NVRTC for machine code: the CPU driver runs only PTX, and for a real
 * architecture (sm_90) NVRTC keeps the PTX beside the machine code (NVRTC, "nvrtcGetPTX"). A program loads
 * both by the same calls. This library is preloaded for commands on the CPU driver, so that a program linked
 * with NVRTC calls these functions. */
#include <dlfcn.h>
#include <stddef.h>

typedef int (*size_function)(void *program, size_t *bytes);
typedef int (*read_function)(void *program, char *code);

/* nvrtcResult */
enum { SUCCESS = 0, INVALID_PROGRAM = 4 };

__attribute__((visibility("default"))) int nvrtcGetCUBINSize(void *program, size_t *bytes);
__attribute__((visibility("default"))) int nvrtcGetCUBIN(void *program, char *code);

int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
    const size_function machine_code = (size_function)dlsym(RTLD_NEXT, "nvrtcGetCUBINSize");
    const size_function ptx = (size_function)dlsym(RTLD_NEXT, "nvrtcGetPTXSize");
    const int result = machine_code != NULL ? machine_code(program, bytes) : INVALID_PROGRAM;
    /* A program compiled for a virtual architecture has no machine code, and still has none. */
    return result != SUCCESS || *bytes == 0 || ptx == NULL ? result : ptx(program, bytes);
}

int nvrtcGetCUBIN(void *program, char *code)
{
    const read_function ptx = (read_function)dlsym(RTLD_NEXT, "nvrtcGetPTX");
    return ptx != NULL ? ptx(program, code) : INVALID_PROGRAM;
}
