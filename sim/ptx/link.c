#include "ptx/link.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/diagnostic.h"
#include "ptx/parser.h"
#include "ptx/runtime.h"

bool ptx_same_name(const struct token *one, const struct token *other)
{
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}

bool ptx_is_definition(const struct symbol *symbol)
{
    return symbol->name != NULL &&
           (symbol->function ? symbol->body != NULL : symbol->linkage != LINKAGE_EXTERN);
}

static uint64_t bytes_of(const struct text *text, const struct token *name)
{
    for (size_t i = 0; i < text->module->variable_count; i++)
        if (ptx_token_is(name, text->module->variables[i]->name))
            return text->module->variables[i]->bytes;
    return 0;
}

static const struct ptx_kernel *function_of(const struct text *text, const struct token *name)
{
    for (size_t i = 0; i < text->module->function_count; i++)
        if (ptx_token_is(name, text->module->functions[i]->name))
            return text->module->functions[i];
    return NULL;
}

const struct symbol *ptx_find_global(const struct ptx_link *link, const struct token *name,
                                     const struct text **in)
{
    const struct symbol *best = NULL;
    const struct text *where = NULL;
    for (size_t i = 0; i < link->count; i++) {
        const struct text *text = &link->texts[i];
        for (size_t j = 0; j < text->symbols.count; j++) {
            const struct symbol *symbol = &text->symbols.list[j];
            if (!ptx_is_definition(symbol) || symbol->linkage == LINKAGE_STATIC ||
                !ptx_same_name(symbol->name, name))
                continue;
            /* PTX ISA, .common: the largest definition wins. */
            const bool larger = best != NULL && symbol->linkage == LINKAGE_COMMON &&
                                best->linkage == LINKAGE_COMMON &&
                                bytes_of(text, name) > bytes_of(where, name);
            if (best == NULL || symbol->linkage > best->linkage || larger) {
                best = symbol;
                where = text;
            }
        }
    }
    if (in != NULL)
        *in = where;
    return best;
}

/* ---- adding a text ---- */

static void free_text(struct text *text)
{
    for (size_t i = 0; i < text->rename_count; i++)
        free(text->renames[i].to);
    free(text->renames);
    ptx_symbols_free(&text->symbols);
    ptx_module_free(text->module);
    free(text->bytes);
    free(text->name);
}

static bool parameters_fit(const struct ptx_kernel *one, const struct ptx_kernel *other)
{
    bool fit = one->parameter_count == other->parameter_count;
    for (uint32_t i = 0; fit && i < one->parameter_count; i++)
        fit = one->parameters[i].bytes == other->parameters[i].bytes;
    return fit;
}

/* Checks that two texts agree on a symbol. The messages are those of driver 580.159. */
static bool agree(const struct text *text, const struct symbol *symbol, const struct text *before,
                  const struct symbol *known, struct ptx_diagnostic *diagnostic)
{
    const struct token *name = symbol->name;
    const char *wrong = NULL, *first = "specified";
    const bool common = symbol->linkage == LINKAGE_COMMON || known->linkage == LINKAGE_COMMON;
    if (ptx_is_definition(symbol) && ptx_is_definition(known) && symbol->linkage == LINKAGE_VISIBLE &&
        known->linkage == LINKAGE_VISIBLE) {
        wrong = "Multiple definition of";
        first = "defined";
    } else if (symbol->function != known->function) {
        wrong = "Type doesn't match for";
    } else if (symbol->function) {
        const struct ptx_kernel *one = function_of(text, name), *other = function_of(before, name);
        if (one != NULL && other != NULL && !parameters_fit(one, other))
            wrong = "Prototype doesn't match for";
    } else if (!common) {
        const uint64_t one = bytes_of(text, name), other = bytes_of(before, name);
        if (one != 0 && other != 0 && one != other) /* an array without a size matches any size */
            wrong = "Size doesn't match for";
    }
    if (wrong != NULL)
        diagnose(diagnostic, name->line, "%s '%.*s' in '%s', first %s in '%s'", wrong,
                 (int)(name->length < 200 ? name->length : 200), name->text, text->name, first, before->name);
    return wrong == NULL;
}

static bool agree_with_all(const struct ptx_link *link, const struct text *text,
                           struct ptx_diagnostic *diagnostic)
{
    for (size_t i = 0; i < text->symbols.count; i++) {
        const struct symbol *symbol = &text->symbols.list[i];
        if (symbol->name == NULL || symbol->linkage == LINKAGE_STATIC || symbol->shared)
            continue;
        for (size_t j = 0; j < link->count; j++)
            for (size_t k = 0; k < link->texts[j].symbols.count; k++) {
                const struct symbol *known = &link->texts[j].symbols.list[k];
                if (known->name != NULL && known->linkage != LINKAGE_STATIC && !known->shared &&
                    ptx_same_name(known->name, symbol->name) &&
                    !agree(text, symbol, &link->texts[j], known, diagnostic))
                    return false;
            }
    }
    return true;
}

struct ptx_link *ptx_link_begin(void)
{
    return calloc(1, sizeof(struct ptx_link));
}

enum ptx_link_status ptx_link_add(struct ptx_link *link, const char *bytes, size_t size, const char *name,
                                  struct ptx_diagnostic *diagnostic)
{
    struct text text = {.size = strnlen(bytes, size)}; /* the text of a linked product must not hold a NUL */
    enum ptx_link_status status = PTX_LINK_MEMORY;
    struct text *texts = ptx_grow(link->texts, link->count, &link->room, sizeof *texts);
    if (texts == NULL)
        return PTX_LINK_MEMORY;
    link->texts = texts;
    text.bytes = malloc(text.size != 0 ? text.size : 1);
    text.name = strndup(name, 80);
    if (text.bytes != NULL && text.name != NULL) {
        memcpy(text.bytes, bytes, text.size);
        if (ptx_parse_module(text.bytes, text.size, true, &text.module, diagnostic) != 0)
            status = PTX_LINK_TEXT;
        else if (ptx_symbols_read(text.bytes, text.size, &text.symbols))
            status = agree_with_all(link, &text, diagnostic) ? PTX_LINKED : PTX_LINK_SYMBOL;
    }
    if (status == PTX_LINKED)
        texts[link->count++] = text;
    else
        free_text(&text);
    return status;
}

void ptx_link_end(struct ptx_link *link)
{
    for (size_t i = 0; i < link->count; i++)
        free_text(&link->texts[i]);
    free(link->texts);
    free(link);
}

/* ---- resolving ---- */

/* A function of the device runtime. If the engine lacks it, the kernels that call it cannot run. */
static bool is_runtime(const struct token *name)
{
    return ptx_find_builtin(name->text, name->length) != NULL ||
           ptx_runtime_text(name->text, name->length) != NULL || ptx_runtime_lacks(name->text, name->length);
}

static bool is_used(const struct text *text, const struct token *name)
{
    size_t uses = 0;
    for (const struct token *token = text->symbols.tokens; token->kind != TOKEN_END; token++)
        uses += token->kind == TOKEN_NAME && ptx_same_name(token, name);
    for (size_t i = 0; i < text->symbols.count; i++)
        uses -= text->symbols.list[i].name != NULL && ptx_same_name(text->symbols.list[i].name, name);
    return uses != 0;
}

static bool is_defined_in(const struct text *text, const struct token *name)
{
    for (size_t i = 0; i < text->symbols.count; i++)
        if (ptx_is_definition(&text->symbols.list[i]) && ptx_same_name(text->symbols.list[i].name, name))
            return true;
    return false;
}

/* Writes one line per undefined symbol, as far as the buffer goes. */
static bool check_references(const struct ptx_link *link, struct ptx_diagnostic *diagnostic)
{
    size_t length = 0;
    const size_t room = sizeof diagnostic->text;
    diagnostic->text[0] = '\0';
    for (size_t i = 0; i < link->count; i++) {
        const struct text *text = &link->texts[i];
        for (size_t j = 0; j < text->symbols.count && length < room; j++) {
            const struct symbol *symbol = &text->symbols.list[j];
            const struct token *name = symbol->name;
            if (name == NULL || ptx_is_definition(symbol) || symbol->shared || is_runtime(name) ||
                is_defined_in(text, name) || ptx_find_global(link, name, NULL) != NULL ||
                !is_used(text, name))
                continue;
            const int wanted =
                snprintf(diagnostic->text + length, room - length, "%sUndefined reference to '%.*s' in '%s'",
                         length != 0 ? "\n" : "", (int)name->length, name->text, text->name);
            length += wanted > 0 ? (size_t)wanted : 0;
        }
    }
    return length == 0;
}

/* Whether another text has the same name, so that this text's static symbol must be renamed. The first of
 * several static symbols keeps its name. */
static bool collides(const struct ptx_link *link, const struct text *text, const struct token *name)
{
    for (size_t i = 0; i < link->count; i++) {
        const struct text *other = &link->texts[i];
        for (size_t j = 0; other != text && j < other->symbols.count; j++) {
            const struct symbol *symbol = &other->symbols.list[j];
            if (symbol->name != NULL && ptx_same_name(symbol->name, name) &&
                (other < text || symbol->linkage != LINKAGE_STATIC))
                return true;
        }
    }
    return false;
}

static bool is_taken(const struct ptx_link *link, const char *name)
{
    for (size_t i = 0; i < link->count; i++)
        for (size_t j = 0; j < link->texts[i].symbols.count; j++) {
            const struct symbol *symbol = &link->texts[i].symbols.list[j];
            if (symbol->name != NULL && ptx_token_is(symbol->name, name))
                return true;
        }
    return false;
}

static bool add_rename(const struct ptx_link *link, struct text *text, const struct token *name)
{
    const size_t room = name->length + 24;
    for (size_t i = 0; i < text->rename_count; i++)
        if (ptx_same_name(text->renames[i].name, name))
            return true;
    struct rename *renames = ptx_grow(text->renames, text->rename_count, &text->rename_room, sizeof *renames);
    char *to = malloc(room);
    if (renames != NULL)
        text->renames = renames;
    if (renames == NULL || to == NULL) {
        free(to);
        return false;
    }
    size_t number = (size_t)(text - link->texts) + 1;
    do
        (void)snprintf(to, room, "%.*s$%zu", (int)name->length, name->text, number++);
    while (is_taken(link, to));
    renames[text->rename_count++] = (struct rename){name, to};
    return true;
}

static bool resolve(struct ptx_link *link)
{
    for (size_t i = 0; i < link->count; i++) {
        struct text *text = &link->texts[i];
        for (size_t j = 0; j < text->symbols.count; j++) {
            struct symbol *symbol = &text->symbols.list[j];
            if (symbol->name == NULL)
                continue;
            if (symbol->linkage != LINKAGE_STATIC)
                symbol->dropped =
                    ptx_is_definition(symbol) && ptx_find_global(link, symbol->name, NULL) != symbol;
            else if (collides(link, text, symbol->name) && !add_rename(link, text, symbol->name))
                return false;
        }
    }
    return true;
}

enum ptx_link_status ptx_link_finish(struct ptx_link *link, char **text, size_t *bytes,
                                     struct ptx_diagnostic *diagnostic)
{
    struct ptx_diagnostic own = {0};
    *text = NULL;
    if (!check_references(link, &own)) {
        *diagnostic = own;
        return PTX_LINK_SYMBOL;
    }
    if (resolve(link))
        *text = ptx_write_product(link, bytes);
    return *text != NULL ? PTX_LINKED : PTX_LINK_MEMORY;
}
