/* linked [LAUNCHES]: the driver is a NEEDED library of the program. */
#include "scale.h"

int main(int argc, char **argv)
{
    const struct driver driver = SCALE_LINKED;
    scale_start(&driver);
    scale_run(&driver, argc > 1 ? atoi(argv[1]) : 3);
    puts("right");
    return 0;
}
