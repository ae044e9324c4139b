/* execs: launches twice, then becomes `linked 3` (argv[1]). */
#include <unistd.h>

#include "scale.h"

int main(int argc, char **argv)
{
    const struct driver driver = SCALE_LINKED;
    scale_start(&driver);
    scale_run(&driver, 2);
    if (argc > 1)
        execl(argv[1], argv[1], "3", (char *)NULL);
    return 1;
}
