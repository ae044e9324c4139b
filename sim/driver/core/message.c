#include "driver/core/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void sim_print(const char *format, ...)
{
    static const char prefix[] = "CPU driver: ";
    const int saved = errno;
    char line[1024];
    va_list arguments;
    size_t used = (size_t)snprintf(line, sizeof line, "%s", prefix);
    va_start(arguments, format);
    const int length = vsnprintf(line + used, 1000, format, arguments);
    va_end(arguments);
    if (length > 0)
        used += length < 1000 ? (size_t)length : 999;
    line[used] = '\n';
    if (write(STDERR_FILENO, line, used + 1) < 0)
        errno = saved; /* stderr is closed; programs still get results */
    errno = saved;
}
