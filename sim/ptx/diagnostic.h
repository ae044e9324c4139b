/* Diagnostics of a text or a launch: only the first one is kept. */
#ifndef NEUTRINO_SIM_PTX_DIAGNOSTIC_H
#define NEUTRINO_SIM_PTX_DIAGNOSTIC_H

#include <stdarg.h>
#include <stdio.h>

#include "ptx/ptx.h"

__attribute__((format(printf, 3, 4))) static inline void diagnose(struct ptx_diagnostic *diagnostic,
                                                                  uint32_t line, const char *format, ...)
{
    if (diagnostic == NULL || diagnostic->text[0] != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(diagnostic->text, sizeof diagnostic->text, format, arguments);
    va_end(arguments);
    diagnostic->line = line;
}

#endif
