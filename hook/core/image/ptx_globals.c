/* Globals of a PTX text. Only text outside of functions is read: a driver finds no variable inside a
 * function's braces by name, and no compiler writes .global there. */
#include "core/image/image_globals.h"
#include "core/image/ptx_text.h"

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

/* Visit the names between .global or .const and the semicolon. Directives and an alignment come first;
 * dimensions and initial content follow each name. */
static const char *visit_declaration(struct nb_ptx_text *text, nb_image_global_visit *visit, void *context)
{
    bool named = false, managed = false;
    uint32_t depth = 0;
    struct nb_view token;
    while (nb_ptx_take(text, &token)) {
        const unsigned char first = token.start[0];
        depth = nb_ptx_depth(token, depth);
        if (first == ';')
            return NULL;
        if (nb_ptx_is(token, ".texref") || nb_ptx_is(token, ".samplerref") || nb_ptx_is(token, ".surfref"))
            named = true; /* this kind of name does not count */
        if (nb_ptx_is(token, ".managed"))
            managed = true;
        if (depth == 0 && first == ',')
            named = false;
        if (depth != 0 || named || !nb_ptx_is_word(first) || (first >= '0' && first <= '9'))
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
