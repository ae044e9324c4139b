/* Opens a HIP library by the name it is given, and says whose hipGetDeviceCount it finds and what that
 * answers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "name a library");
        return 1;
    }
    union {
        void *found;
        int (*address)(int *);
    } plain = {dlsym(library, "hipGetDeviceCount")},
      versioned = {dlvsym(library, "hipGetDeviceCount", "hip_4.2")};
    Dl_info info;
    if (plain.found == NULL || dladdr(plain.found, &info) == 0)
        return 1;
    int count = -1;
    const int result = plain.address(&count);
    printf("%s %s %d %d\n", info.dli_fname, plain.found == versioned.found ? "same" : "other", result, count);
    return 0;
}
