/* A daemon closes every descriptor and opens files of its own: the shim must not write to those. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scale.h"

int main(int argc, char **argv)
{
    const struct driver driver = SCALE_LINKED;
    if (argc < 2)
        return 2;
    scale_start(&driver);
    scale_run(&driver, 1);
    for (int descriptor = 3; descriptor < 256; descriptor++)
        close(descriptor);
    for (int i = 0; i < 250; i++)
        if (open(argv[1], O_RDWR | O_CREAT, 0600) < 0)
            break;
    scale_run(&driver, 2);
    struct stat status;
    if (stat(argv[1], &status) != 0 || status.st_size != 0) {
        fprintf(stderr, "somebody wrote to the program's own file\n");
        return 1;
    }
    puts("right");
    return 0;
}
