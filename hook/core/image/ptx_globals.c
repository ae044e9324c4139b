/* Globals of a PTX text. Only text outside of functions is read: a driver finds no variable inside a
 * function's braces by name, and no compiler writes .global there. */
#include <stdio.h>
#include <stdlib.h>

#include "core/image/image_globals.h"
#include "core/image/ptx_text.h"

enum { NUMBERED_MAX = 1 << 16 };

static const char *visit_name(struct nb_view token, bool managed, nb_image_global_visit *visit, void *context)
{
    char name[NB_GLOBAL_NAME_MAX];
    if (token.bytes >= sizeof name)
        return "one of its globals has an invalid name";
    memcpy(name, token.start, token.bytes);
    name[token.bytes] = 0;
    visit(name, managed, context);
    return NULL;
}

/* NAME<4> declares NAME0 to NAME3. `text` is behind "<". */
static const char *visit_numbered(struct nb_ptx_text *text, struct nb_view stem, bool managed,
                                  nb_image_global_visit *visit, void *context)
{
    char name[NB_GLOBAL_NAME_MAX], digits[16] = "";
    char *end = digits;
    struct nb_view number, closing;
    if (nb_ptx_take(text, &number) && number.bytes < sizeof digits)
        memcpy(digits, number.start, number.bytes);
    const unsigned long count = strtoul(digits, &end, 10);
    if (digits[0] < '1' || digits[0] > '9' || *end != 0 || count > NUMBERED_MAX ||
        !nb_ptx_take(text, &closing) || closing.start[0] != '>')
        return "one of its declarations of numbered variables cannot be read";
    for (unsigned long i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%.*s%lu", (int)stem.bytes, stem.start, i);
        visit(name, managed, context);
    }
    return NULL;
}

/* Visit the names between .global or .const and the semicolon. Directives and an alignment come first;
 * dimensions and initial content follow each name. */
static const char *visit_declaration(struct nb_ptx_text *text, nb_image_global_visit *visit, void *context)
{
    bool named = false, managed = false;
    uint32_t depth = 0;
    struct nb_view token, last = {0};
    while (nb_ptx_take(text, &token)) {
        const unsigned char first = token.start[0];
        const char *problem = NULL;
        depth = nb_ptx_depth(token, depth);
        if (first == ';')
            return NULL;
        if (first == '<' && last.bytes != 0)
            problem = visit_numbered(text, last, managed, visit, context);
        if (nb_ptx_is(token, ".texref") || nb_ptx_is(token, ".samplerref") || nb_ptx_is(token, ".surfref"))
            named = true; /* this kind of name does not count */
        if (nb_ptx_is(token, ".managed"))
            managed = true;
        if (depth == 0 && first == ',')
            named = false;
        if (depth == 0 && !named && nb_ptx_is_word(first) && (first < '0' || first > '9')) {
            named = true;
            last = token;
            problem = visit_name(token, managed, visit, context);
        }
        if (problem != NULL)
            return problem;
    }
    return "its text ends in a declaration";
}

const char *nb_ptx_globals(struct nb_view view, nb_image_global_visit *visit, void *context)
{
    struct nb_ptx_text text = {view.start, view.start + view.bytes};
    uint32_t depth = 0;
    bool versioned = false;
    struct nb_view token;
    while (nb_ptx_take(&text, &token)) {
        depth = nb_ptx_depth(token, depth);
        versioned = versioned || nb_ptx_is(token, ".version");
        if (depth != 0 || !(nb_ptx_is(token, ".global") || nb_ptx_is(token, ".const")))
            continue;
        const char *problem = visit_declaration(&text, visit, context);
        if (problem != NULL)
            return problem;
    }
    return versioned ? nb_ptx_ambiguity(view) : "it is neither a cubin nor PTX";
}
