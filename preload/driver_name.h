/* The file names of GPU drivers. */
#ifndef NEUTRINO_DRIVER_NAME_H
#define NEUTRINO_DRIVER_NAME_H

#include <stdbool.h>
#include <string.h>

/* <name>.so, <name>.so.1, <name>.so.580.159.04, <name>.so.5.2.21153 */
static inline bool is_driver_name(const char *base, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(base, name, length) != 0 || strncmp(base + length, ".so", 3) != 0)
        return false;
    const char *version = base + length + 3;
    return *version == 0 || (*version == '.' && strspn(version, ".0123456789") == strlen(version));
}

#endif
