/* forks before: both parent and child start the driver after the fork.
 * forks after: the parent has used the driver when it forks; the child is refused, as by a real driver. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scale.h"

static const struct driver driver = SCALE_LINKED;

static void use(int launches)
{
    scale_start(&driver);
    scale_run(&driver, launches);
}

int main(int argc, char **argv)
{
    const int after = argc > 1 && strcmp(argv[1], "after") == 0;
    if (after)
        use(2);
    const pid_t child = fork();
    if (child == 0) {
        if (after)
            _exit(driver.init(0) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
        use(3);
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    if (status != 0) {
        fprintf(stderr, "the child ended with status %d\n", status);
        return 1;
    }
    if (after)
        scale_run(&driver, 2);
    else
        use(2);
    puts("right");
    return 0;
}
