#include "core/base/filter.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Does `name` contain one of the comma-separated words of `list`? */
static bool list_names(const char *list, const char *name)
{
    while (*list != 0) {
        const size_t length = strcspn(list, ",");
        if (length > 0 && memmem(name, strlen(name), list, length) != NULL)
            return true;
        list += length;
        list += *list == ',';
    }
    return false;
}

bool nb_filter_matches(const void *caller)
{
    const char *list = getenv("NEUTRINO_FILTER");
    Dl_info info;
    if (list == NULL || *list == 0 || dladdr(caller, &info) == 0 || info.dli_fname == NULL)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    return list_names(list, slash != NULL ? slash + 1 : info.dli_fname);
}
