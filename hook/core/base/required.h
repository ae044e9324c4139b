/* Did the user ask for no driver call without a record (NEUTRINO_REQUIRE)? */
#ifndef NEUTRINO_REQUIRED_H
#define NEUTRINO_REQUIRED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool nb_is_recording_required(void)
{
    const char *value = getenv("NEUTRINO_REQUIRE");
    return value != NULL && *value != 0 && strcmp(value, "0") != 0;
}

#endif
