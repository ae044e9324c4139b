#include "core/image/ptx_text.h"

#define OPENING "{(["
#define CLOSING "})]"

static bool begins(const struct nb_ptx_text *text, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(text->end - text->at) >= length && memcmp(text->at, word, length) == 0;
}

static bool is_one_of(unsigned char byte, const char *set)
{
    return byte != 0 && strchr(set, byte) != NULL;
}

/* ISO C's isalnum follows the program's locale. */
bool nb_ptx_is_word(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           is_one_of(byte, "_$%");
}

static void skip_to(struct nb_ptx_text *text, const char *ending)
{
    while (text->at < text->end && !begins(text, ending))
        text->at++;
    if (text->at < text->end)
        text->at += strlen(ending);
}

static bool skip_comment(struct nb_ptx_text *text)
{
    const bool is_block = begins(text, "/*");
    if (!is_block && !begins(text, "//"))
        return false;
    text->at += 2;
    skip_to(text, is_block ? "*/" : "\n");
    return true;
}

/* Skip blanks, comments and strings. */
static void skip_blanks(struct nb_ptx_text *text)
{
    while (text->at < text->end) {
        if (skip_comment(text))
            continue;
        if (*text->at == '"') {
            text->at++;
            skip_to(text, "\"");
        } else if (is_one_of(*text->at, " \t\r\n\f\v")) {
            text->at++;
        } else {
            return;
        }
    }
}

bool nb_ptx_take(struct nb_ptx_text *text, struct nb_view *word)
{
    skip_blanks(text);
    const unsigned char *start = text->at;
    if (start == text->end || *start == 0)
        return false;
    if (nb_ptx_is_word(*text->at++) || *start == '.')
        while (text->at < text->end && nb_ptx_is_word(*text->at))
            text->at++;
    *word = (struct nb_view){start, (uint64_t)(text->at - start)};
    return true;
}

bool nb_ptx_is(struct nb_view word, const char *text)
{
    return word.bytes == strlen(text) && memcmp(word.start, text, word.bytes) == 0;
}

uint32_t nb_ptx_depth(struct nb_view word, uint32_t depth)
{
    if (is_one_of(word.start[0], OPENING))
        return depth + 1;
    return is_one_of(word.start[0], CLOSING) && depth > 0 ? depth - 1 : depth;
}

const char *nb_ptx_ambiguity(struct nb_view view)
{
    const unsigned char *const whole = view.start + view.bytes;
    const unsigned char *const zero = view.bytes != 0 ? memchr(view.start, 0, view.bytes) : NULL;
    const unsigned char *const end = zero != NULL ? zero : whole;
    for (const unsigned char *at = end; at < whole; at++)
        if (*at != 0)
            return "its text goes on behind a NUL";
    for (const unsigned char *at = view.start; at + 1 < end; at++) {
        if (*at == '\\' && (at[1] == '"' || at[1] == '\n'))
            return "its text has an escaped quotation mark or line end";
        if (*at == '\r' && at[1] != '\n')
            return "its text has a carriage return within a line";
    }
    struct nb_ptx_text text = {view.start, end};
    while (text.at < end) {
        if (skip_comment(&text) || *text.at++ != '"')
            continue;
        while (text.at < end && *text.at != '"' && *text.at != '\n')
            text.at++;
        if (text.at < end && *text.at++ == '\n')
            return "a string of its text does not end on its line";
    }
    return NULL;
}
