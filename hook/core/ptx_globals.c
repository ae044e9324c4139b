/* Variables of a PTX text. Only what stands outside of functions is read: a function's braces hold no
 * variable that a driver finds by its name, and no compiler writes .global there. */
#include "image_globals.h"

#define OPENING "{(["
#define CLOSING "})]"

struct text {
    const unsigned char *at, *end;
};

static bool begins(const struct text *text, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(text->end - text->at) >= length && memcmp(text->at, word, length) == 0;
}

static bool is_one_of(unsigned char byte, const char *set)
{
    return byte != 0 && strchr(set, byte) != NULL;
}

/* ISO C's isalnum follows the program's locale. */
static bool is_word(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           is_one_of(byte, "_$%");
}

static void skip_to(struct text *text, const char *ending)
{
    while (text->at < text->end && !begins(text, ending))
        text->at++;
    if (text->at < text->end)
        text->at += strlen(ending);
}

/* Over blanks, comments and strings. */
static void skip_blanks(struct text *text)
{
    while (text->at < text->end) {
        if (begins(text, "//")) {
            skip_to(text, "\n");
        } else if (begins(text, "/*")) {
            text->at += 2;
            skip_to(text, "*/");
        } else if (*text->at == '"') {
            text->at++;
            skip_to(text, "\"");
        } else if (is_one_of(*text->at, " \t\r\n\f\v")) {
            text->at++;
        } else {
            return;
        }
    }
}

/* A directive with its point, a name, a number; or else one byte. */
static struct nb_view take_token(struct text *text)
{
    const unsigned char *start = text->at;
    if (!is_word(*text->at++) && *start != '.')
        return (struct nb_view){start, 1};
    while (text->at < text->end && is_word(*text->at))
        text->at++;
    return (struct nb_view){start, (uint64_t)(text->at - start)};
}

static bool is_token(struct nb_view token, const char *word)
{
    return token.bytes == strlen(word) && memcmp(token.start, word, token.bytes) == 0;
}

/* How many brackets are open after this token. */
static uint32_t depth_after(struct nb_view token, uint32_t depth)
{
    if (is_one_of(token.start[0], OPENING))
        return depth + 1;
    return is_one_of(token.start[0], CLOSING) && depth > 0 ? depth - 1 : depth;
}

static const char *visit_name(struct nb_view token, bool managed, nb_image_global_visit *visit, void *context)
{
    char name[NB_GLOBAL_NAME_MAX];
    if (token.bytes >= sizeof name)
        return "a variable of it has no sane name";
    memcpy(name, token.start, token.bytes);
    name[token.bytes] = 0;
    visit(name, managed, context);
    return NULL;
}

/* What follows .global or .const up to the semicolon: directives, an alignment, then names, each with its
 * dimensions and what it begins with. */
static const char *visit_declaration(struct text *text, nb_image_global_visit *visit, void *context)
{
    bool named = false, managed = false;
    uint32_t depth = 0;
    for (skip_blanks(text); text->at < text->end; skip_blanks(text)) {
        const struct nb_view token = take_token(text);
        const unsigned char first = token.start[0];
        depth = depth_after(token, depth);
        if (first == ';')
            return NULL;
        if (is_token(token, ".texref") || is_token(token, ".samplerref") || is_token(token, ".surfref"))
            named = true; /* not by this kind of name */
        if (is_token(token, ".managed"))
            managed = true;
        if (depth == 0 && first == ',')
            named = false;
        if (depth != 0 || named || !is_word(first) || (first >= '0' && first <= '9'))
            continue;
        named = true;
        const char *problem = visit_name(token, managed, visit, context);
        if (problem != NULL)
            return problem;
    }
    return "its text ends in a declaration";
}

const char *nb_ptx_globals(struct nb_view view, nb_image_global_visit *visit, void *context)
{
    struct text text = {view.start, view.start + view.bytes};
    uint32_t depth = 0;
    bool versioned = false;
    for (skip_blanks(&text); text.at < text.end && *text.at != 0; skip_blanks(&text)) {
        const struct nb_view token = take_token(&text);
        depth = depth_after(token, depth);
        versioned = versioned || is_token(token, ".version");
        if (depth != 0 || !(is_token(token, ".global") || is_token(token, ".const")))
            continue;
        const char *problem = visit_declaration(&text, visit, context);
        if (problem != NULL)
            return problem;
    }
    return versioned ? NULL : "it is neither a cubin nor PTX";
}
