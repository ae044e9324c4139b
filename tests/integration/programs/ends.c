/* ends return|exit|quick|abort|kill: launches four times, then ends that way, in the middle of things. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "scale.h"

int main(int argc, char **argv)
{
    const struct driver driver = SCALE_LINKED;
    const char *how = argc > 1 ? argv[1] : "return";
    scale_start(&driver);
    scale_run(&driver, 4);
    if (strcmp(how, "exit") == 0)
        exit(5);
    if (strcmp(how, "quick") == 0)
        _exit(6);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}
