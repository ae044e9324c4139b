/* The first recorded call of a thread attaches, maps and opens files: none of it may show in errno. */
#include <errno.h>

#include "scale.h"

int main(void)
{
    const struct driver driver = SCALE_LINKED;
    errno = 4321;
    CHECK(driver.init(0));
    if (errno != 4321) {
        fprintf(stderr, "errno is %d after cuInit\n", errno);
        return 1;
    }
    scale_start(&driver);
    errno = 1234;
    scale_run(&driver, 1);
    if (errno != 1234) {
        fprintf(stderr, "errno is %d after a launch\n", errno);
        return 1;
    }
    puts("right");
    return 0;
}
