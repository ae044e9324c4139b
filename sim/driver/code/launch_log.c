#include "driver/code/launch_log.h"

#include "driver/code/module.h"
#include "driver/core/message.h"
#include "driver/core/state.h"
#include "driver/stream/work.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One write with O_APPEND per line: lines of several processes do not mix, and lines survive SIGKILL. */
static void append(const char *path, const char *line, int length, size_t room, const char *variable)
{
    const int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (length <= 0 || (size_t)length >= room || descriptor < 0 ||
        write(descriptor, line, (size_t)length) != length)
        sim_print("cannot write to %s", variable);
    if (descriptor >= 0)
        close(descriptor);
}

struct ptx_counts *sim_counts_begin(const struct sim_launch *launch)
{
    if (sim_environment()->counts == NULL)
        return NULL;
    struct ptx_counts *counts = calloc(1, sizeof *counts);
    if (counts == NULL)
        return NULL;
    counts->lines = ptx_kernel_lines(launch->function->ptx);
    counts->threads = calloc(counts->lines, sizeof *counts->threads);
    if (counts->threads == NULL) {
        free(counts);
        return NULL;
    }
    return counts;
}

void sim_counts_end(const struct sim_launch *launch, struct ptx_counts *counts)
{
    char text[4096];
    for (uint32_t line = 0; counts != NULL && line < counts->lines; line++) {
        const uint64_t executed = counts->threads[line][0], skipped = counts->threads[line][1];
        if (executed + skipped == 0)
            continue;
        const int length = snprintf(text, sizeof text, "%d %s %u %llu %llu\n", (int)getpid(),
                                    ptx_kernel_name(launch->function->ptx), line,
                                    (unsigned long long)executed, (unsigned long long)skipped);
        append(sim_environment()->counts, text, length, sizeof text, "SIM_COUNTS");
    }
    if (counts != NULL)
        free((void *)counts->threads);
    free(counts);
}

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
    append(path, line, length, sizeof line, "SIM_LAUNCH_LOG");
}
