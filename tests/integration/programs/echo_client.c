/* echo_client DRIVER: calls every name on standard input through the shim that is preloaded, and prints what
 * arrived in the driver:
 *     NAME RESULT NUMBER word word ... double
 * A name may be followed by `null`: its words are then all 0, for functions whose hook reads behind them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "echo_driver.h"

typedef int (*any)(long, long, long, long, long, long, long, long, long, long, long, long, long, long,
                   double);

int main(int argc, char **argv)
{
    char line[256], name[200], how[16];
    void *driver = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    struct echo *last = driver != NULL ? dlsym(driver, "echo_last") : NULL;
    if (last == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        const int fields = sscanf(line, "%199s %15s", name, how);
        const any function = fields >= 1 ? (any)dlsym(RTLD_DEFAULT, name) : NULL;
        if (function == NULL) {
            printf("%s missing\n", name);
            continue;
        }
        *last = (struct echo){.number = -1};
        const long one = fields == 2 ? 0 : 1;
        const int result = function(1 * one, 2 * one, 3 * one, 4 * one, 5 * one, 6 * one, 7 * one, 8 * one,
                                    9 * one, 10 * one, 11 * one, 12 * one, 13 * one, 14 * one, 0.5);
        printf("%s %d %d", name, result, last->number);
        for (int i = 0; i < ECHO_WORDS; i++)
            printf(" %ld", last->words[i]);
        printf(" %g\n", last->number_in_a_vector_register);
    }
    return 0;
}
