/* odd_client: is the driver opened only when it is called? Then what odd_driver.c is for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int driver_is_mapped(void)
{
    static char line[8192];
    const char *driver = getenv("NEUTRINO_DRIVER");
    FILE *maps = fopen("/proc/self/maps", "r");
    int found = 0;
    while (maps != NULL && driver != NULL && fgets(line, sizeof line, maps) != NULL)
        found |= strstr(line, driver) != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

int main(void)
{
    int (*init)(unsigned int) = (int (*)(unsigned int))dlsym(RTLD_DEFAULT, "cuInit");
    int (*query)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "cuStreamQuery");
    int (*look_up)(const char *, void **, int, unsigned long long, int *) =
        (int (*)(const char *, void **, int, unsigned long long, int *))dlsym(RTLD_DEFAULT,
                                                                              "cuGetProcAddress_v2");
    const int before = driver_is_mapped();
    if (init == NULL || init(0) != 0)
        return 1;
    printf("mapped %d then %d\n", before, driver_is_mapped());
    for (int i = 0; i < 3; i++)
        if (query(NULL) != 0)
            return 1;
    void *secret = NULL;
    look_up("cuSecret", &secret, 13000, 0, NULL);
    printf("secret %d\n", secret != NULL ? ((int (*)(void))secret)() : -1);
    return 0;
}
