/* A driver that writes the options of every module load to OPTION_LOG, one "option value" a line, and loads
 * the module without them. Everything else is the CPU driver's, to which this is linked. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                                                                   unsigned int count, CUjit_option *options,
                                                                   void **values)
{
    __typeof__(&cuModuleLoadDataEx) real = (__typeof__(real))dlsym(RTLD_NEXT, "cuModuleLoadDataEx");
    FILE *log = fopen(getenv("OPTION_LOG"), "a");
    if (log == NULL)
        abort();
    for (unsigned int i = 0; i < count; i++)
        fprintf(log, "%d %llu\n", (int)options[i], (unsigned long long)(uintptr_t)values[i]);
    fclose(log);
    return real(module, image, 0, NULL, NULL);
}
