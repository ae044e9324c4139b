/* Kernels by the names that people give them. */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "core/region/selection.h"

#define PLAIN_MAX 512

/* The function's own name in an Itanium-mangled one: the last of the identifiers that it begins with, as in
 * _ZN2at6native6kernelILi4EEEvPf. Of other spellings ("" here) the whole name is matched alone. */
static void plain_name(const char *name, char *plain)
{
    const char *at = name;
    plain[0] = 0;
    if (strncmp(at, "_Z", 2) != 0)
        return;
    at += 2;
    at += strspn(at, "NKVrL"); /* nested, qualified, of internal linkage */
    if (strncmp(at, "St", 2) == 0)
        at += 2;
    while (isdigit((unsigned char)*at)) {
        size_t length = 0;
        for (; isdigit((unsigned char)*at) && length < PLAIN_MAX; at++)
            length = 10 * length + (size_t)(*at - '0');
        if (length == 0 || length >= PLAIN_MAX || strnlen(at, length) < length)
            return;
        memcpy(plain, at, length);
        plain[length] = 0;
        at += length;
        at += *at == 'L';
    }
}

bool nb_kernel_name_matches(const char *pattern, const char *name)
{
    char plain[PLAIN_MAX];
    if (*name == 0)
        return false;
    if (fnmatch(pattern, name, 0) == 0)
        return true;
    plain_name(name, plain);
    return plain[0] != 0 && fnmatch(pattern, plain, 0) == 0;
}
