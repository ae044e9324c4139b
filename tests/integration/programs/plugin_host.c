/* plugin_host LIBRARY: opens it and calls plugin_run. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const int result = ((int (*)(void))dlsym(plugin, "plugin_run"))();
    if (result == 0)
        puts("right");
    return result;
}
