/* The rules and their words are those of ptxas 13.0 and of an H200's driver 580.159, asked of each. */
#include "target.h"

#include "model.h"
#include "state.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct text {
    const char *at;
    const char *end;
};

/* PTX of version `since` (88 for 8.8) is the first that may name the target. */
static const struct {
    unsigned number, since;
} targets[] = {{50, 40}, {52, 41},  {53, 42},  {60, 50},  {61, 50},  {62, 50},  {70, 60},
               {72, 61}, {75, 63},  {80, 70},  {86, 71},  {87, 74},  {88, 90},  {89, 78},
               {90, 78}, {100, 86}, {101, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88}};

/* Versions of PTX by the CUDA version that brought them; from 12.0 on there is about one each. */
static unsigned newest_version(void)
{
    const int cuda = sim_driver_version();
    const unsigned minor = (unsigned)(cuda % 1000) / 10;
    if (cuda >= 13000)
        return 90 + minor;
    if (cuda >= 12000)
        return 80 + (minor <= 5 ? minor : minor - 1);
    return 70 + minor;
}

static void skip_space(struct text *text)
{
    for (;;) {
        while (text->at < text->end && isspace((unsigned char)*text->at))
            text->at++;
        const size_t rest = (size_t)(text->end - text->at);
        const char *close = NULL;
        if (rest >= 2 && memcmp(text->at, "//", 2) == 0)
            close = memchr(text->at, '\n', rest);
        else if (rest >= 2 && memcmp(text->at, "/*", 2) == 0)
            close = memmem(text->at + 2, rest - 2, "*/", 2);
        else
            return;
        text->at = close == NULL ? text->end : close + (*close == '*' ? 2 : 1);
    }
}

static bool take(struct text *text, const char *word)
{
    const size_t length = strlen(word);
    skip_space(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

static bool take_number(struct text *text, unsigned *number)
{
    *number = 0;
    const char *start = text->at;
    while (text->at < text->end && isdigit((unsigned char)*text->at) && *number < 100000)
        *number = *number * 10 + (unsigned)(*text->at++ - '0');
    return text->at > start;
}

static CUresult refuse(const char *words, const char **reason)
{
    *reason = words;
    return CUDA_ERROR_INVALID_PTX;
}

static CUresult check(unsigned version, unsigned target, char suffix, const char **reason)
{
    const unsigned device = sim_model_target();
    unsigned since = target < targets[0].number ? 10 : 0; /* older ones are taken in any version */
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i].number == target)
            since = targets[i].since;
    if (since == 0)
        return refuse("Unsupported .target", reason);
    if (suffix == 'a' && since < 80)
        since = 80;
    if (suffix == 'f' && since < 88)
        since = 88;
    if (version < since)
        return refuse("PTX .version does not support .target", reason);
    if (target > device)
        return refuse("SM version specified by .target is higher than default SM version assumed", reason);
    if (suffix == 'a' && target != device)
        return refuse("Program with .target 'sm_..a' cannot be compiled to future architecture", reason);
    if (suffix == 'f' && target / 10 != device / 10)
        return refuse("Program with .target 'sm_..f' cannot be compiled to different SM-family architecture",
                      reason);
    return CUDA_SUCCESS;
}

CUresult sim_target_check(const char *text, size_t bytes, const char **reason)
{
    struct text rest = {text, text + bytes};
    unsigned major;
    unsigned minor;
    unsigned target;
    if (!take(&rest, ".version"))
        return CUDA_SUCCESS;
    skip_space(&rest);
    if (!take_number(&rest, &major) || !take(&rest, ".") || !take_number(&rest, &minor))
        return CUDA_SUCCESS;
    if (major * 10 + minor > newest_version()) {
        *reason = "Unsupported .version: it is newer than this driver";
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (!take(&rest, ".target") || !take(&rest, "sm_") || !take_number(&rest, &target))
        return CUDA_SUCCESS;
    return check(major * 10 + minor, target, rest.at < rest.end ? *rest.at : '\0', reason);
}
