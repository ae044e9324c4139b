#include "driver/memory/host_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#define PAGE 4096u

/* Without /proc, msync can tell that the pages exist. */
static bool exist(uint64_t begin, uint64_t end)
{
    const uint64_t first = begin & ~(uint64_t)(PAGE - 1);
    return msync((void *)(uintptr_t)first, end - first, MS_ASYNC) == 0;
}

/* proc_pid_maps(5): "address perms ...", in the order of addresses. */
bool sim_host_pages_readable(uint64_t begin, uint64_t end, bool *writable)
{
    char line[512];
    uint64_t next = begin;
    *writable = true;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL)
        return exist(begin, end);
    bool at_line_start = true;
    while (next < end && fgets(line, sizeof line, maps) != NULL) {
        uint64_t from;
        uint64_t to;
        char read;
        char write;
        const bool parsed =
            at_line_start && sscanf(line, "%" SCNx64 "-%" SCNx64 " %c%c", &from, &to, &read, &write) == 4;
        size_t length = 0;
        while (line[length] != '\0')
            length++;
        at_line_start = length > 0 && line[length - 1] == '\n'; /* a long path takes several reads */
        if (!parsed || to <= next)
            continue;
        if (from > next || read != 'r')
            break;
        *writable = *writable && write == 'w';
        next = to;
    }
    (void)fclose(maps);
    return next >= end;
}
