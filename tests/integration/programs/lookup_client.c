/* lookup_client DRIVER: looks "NAME VERSION FLAGS" lines up directly and through the preloaded shim, with and
 * without a status, and compares: same result, same status, and the shim's own address for the export that
 * the driver chose ("-" is the empty name, which runtimes ask for first). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*lookup)(const char *, void **, int, unsigned long long, int *);

int main(int argc, char **argv)
{
    char name[200];
    int version;
    unsigned long long flags;
    void *driver = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (driver == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const lookup direct = (lookup)dlsym(driver, "cuGetProcAddress_v2");
    const lookup through = (lookup)dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2");
    if (direct == NULL || through == NULL || direct == through)
        return 1;
    while (scanf("%199s %d %llu", name, &version, &flags) == 3) {
        if (strcmp(name, "-") == 0)
            name[0] = 0;
        void *wanted = NULL, *got = NULL, *without_status = NULL;
        int wanted_status = -1, got_status = -1;
        Dl_info info = {0};
        const int wanted_result = direct(name, &wanted, version, flags, &wanted_status);
        const int got_result = through(name, &got, version, flags, &got_status);
        const int again = through(name, &without_status, version, flags, NULL);
        const char *export = wanted != NULL && dladdr(wanted, &info) != 0 ? info.dli_sname : NULL;
        void *expected = export != NULL ? dlsym(RTLD_DEFAULT, export) : NULL;
        const int same = wanted_result == got_result && wanted_status == got_status && again == got_result &&
                         got == expected && without_status == expected && (wanted == NULL) == (got == NULL) &&
                         (got == NULL || got != wanted);
        printf("%s -> %s %d %d %s\n", name, export != NULL ? export : "nothing", got_result, got_status,
               same ? "same" : "DIFFERENT");
    }
    return 0;
}
