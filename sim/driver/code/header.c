#include "driver/code/header.h"

#include "driver/code/target.h"
#include "driver/core/state.h"

#include <ctype.h>
#include <string.h>

struct cursor {
    const char *at, *end;
    unsigned line;
};

static bool starts_with(const struct cursor *cursor, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(cursor->end - cursor->at) >= length && memcmp(cursor->at, word, length) == 0;
}

static void step(struct cursor *cursor)
{
    cursor->line += *cursor->at++ == '\n';
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end) {
        const bool block = starts_with(cursor, "/*");
        if (block || starts_with(cursor, "//")) {
            cursor->at += 2;
            while (cursor->at < cursor->end && (block ? !starts_with(cursor, "*/") : *cursor->at != '\n'))
                step(cursor);
            if (block && cursor->at < cursor->end)
                cursor->at += 2;
        } else if (isspace((unsigned char)*cursor->at)) {
            step(cursor);
        } else {
            return;
        }
    }
}

static bool accept(struct cursor *cursor, const char *word)
{
    skip_blanks(cursor);
    if (!starts_with(cursor, word))
        return false;
    cursor->at += strlen(word);
    return true;
}

static bool accept_number(struct cursor *cursor, unsigned *number)
{
    const char *from = cursor->at;
    for (*number = 0; cursor->at < cursor->end && isdigit((unsigned char)*cursor->at); cursor->at++)
        *number = *number > 9999 ? *number : *number * 10 + (unsigned)(*cursor->at - '0');
    return cursor->at != from;
}

bool sim_header_is_ptx(const char *text, size_t bytes)
{
    struct cursor cursor = {text, text + bytes, 1};
    return accept(&cursor, ".version");
}

/* The PTX version of each toolkit: "PTX ISA", release notes. */
static unsigned newest_version(void)
{
    const unsigned driver = (unsigned)sim_driver_version();
    const unsigned major = driver / 1000, minor = driver % 1000 / 10;
    if (major >= 13)
        return 90 + 10 * (major - 13) + minor;
    if (major == 12)
        return 80 + (minor > 5 ? minor - 1 : minor); /* 12.5 and 12.6 both have PTX 8.5 */
    return (major == 11 ? 70 : 63) + minor;
}

static CUresult missing(struct sim_jit *jit, const struct cursor *cursor, const char *what)
{
    sim_jit_error(jit, "ptxas application ptx input, line %u; fatal   : %s at start of file", cursor->line,
                  what);
    sim_jit_error(jit, "ptxas fatal   : Ptx assembly aborted due to errors");
    return CUDA_ERROR_INVALID_PTX;
}

CUresult sim_header_check(const char *text, size_t bytes, struct sim_jit *jit)
{
    struct cursor cursor = {text, text + bytes, 1};
    unsigned major, minor, target;
    if (!accept(&cursor, ".version"))
        return missing(jit, &cursor, "Missing .version directive");
    skip_blanks(&cursor);
    if (!accept_number(&cursor, &major) || !accept(&cursor, ".") || !accept_number(&cursor, &minor))
        return missing(jit, &cursor, "Missing .version directive");
    const unsigned newest = newest_version();
    if (major * 10 + minor > newest) {
        sim_jit_error(jit,
                      "ptxas application ptx input, line %u; fatal   : Unsupported .version %u.%u; current "
                      "version is '%u.%u'",
                      cursor.line, major, minor, newest / 10, newest % 10);
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (!accept(&cursor, ".target"))
        return missing(jit, &cursor, "Missing .target directive");
    if (!accept(&cursor, "sm_") || !accept_number(&cursor, &target))
        return missing(jit, &cursor, "Target architecture not defined");
    const char *reason;
    const char suffix = cursor.at < cursor.end ? *cursor.at : '\0';
    const CUresult result = sim_target_check(jit->target, major * 10 + minor, target, suffix, &reason);
    if (result != CUDA_SUCCESS)
        sim_jit_error(jit, "ptxas fatal   : %s", reason);
    return result;
}
