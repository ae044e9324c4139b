#include "driver/code/launch_log.h"

#include "driver/code/module.h"
#include "driver/core/state.h"
#include "driver/stream/work.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* One write with O_APPEND per line: lines of several processes do not mix, and lines survive SIGKILL. */
void sim_launch_log(const struct sim_launch *launch)
{
    const char *path = sim_environment()->launch_log;
    if (path == NULL)
        return;
    char line[4096];
    const int length =
        snprintf(line, sizeof line, "%d %s %u,%u,%u %u,%u,%u %u\n", (int)getpid(),
                 ptx_kernel_name(launch->function->ptx), launch->grid[0], launch->grid[1], launch->grid[2],
                 launch->block[0], launch->block[1], launch->block[2], launch->shared_bytes);
    const int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (length <= 0 || (size_t)length >= sizeof line || descriptor < 0 ||
        write(descriptor, line, (size_t)length) != length)
        perror("CPU driver: cannot write to SIM_LAUNCH_LOG");
    if (descriptor >= 0)
        close(descriptor);
}
