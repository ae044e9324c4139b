#include "replay/base/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "replay/replay.h"

int nb_error(char *error, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error, NB_REPLAY_TEXT, format, arguments);
    va_end(arguments);
    return status;
}
