/* Write the linked text: first the declarations, then the definitions of each text in order. */
#include <stdlib.h>
#include <string.h>

#include "ptx/link.h"

struct output {
    char *bytes;
    size_t used, room;
    bool failed;
};

static void put(struct output *output, const char *bytes, size_t count)
{
    if (output->room - output->used <= count) { /* room for the NUL */
        size_t room = output->room != 0 ? output->room : 4096;
        while (room - output->used <= count && room < SIZE_MAX / 2)
            room *= 2;
        char *grown = output->failed ? NULL : realloc(output->bytes, room);
        if (grown == NULL) {
            output->failed = true;
            return;
        }
        output->bytes = grown;
        output->room = room;
    }
    memcpy(output->bytes + output->used, bytes, count);
    output->used += count;
}

static void put_string(struct output *output, const char *string)
{
    put(output, string, strlen(string));
}

static bool is_mark(const struct token *token, const char *marks)
{
    return token->kind == TOKEN_MARK && strchr(marks, token->mark) != NULL;
}

/* PTX has no reserved words: `add.s32`, `r<5>` and `generic(name)` keep their meaning even if a symbol is
 * called add, r or generic. */
static bool is_something_else(const struct token *token)
{
    const struct token *next = token + 1;
    if (ptx_token_is(next, "<") || (next->kind == TOKEN_DIRECTIVE && next->adjacent))
        return true;
    return ptx_token_is(token, "generic") && ptx_token_is(next, "(");
}

static const char *renamed(const struct text *text, const struct token *token)
{
    if (is_something_else(token))
        return NULL;
    for (size_t i = 0; token->kind == TOKEN_NAME && i < text->rename_count; i++)
        if (ptx_same_name(text->renames[i].name, token))
            return text->renames[i].to;
    return NULL;
}

/* Whether an instruction begins here. A symbol may have the same name: .func add, then add.s32. */
static bool is_opcode(const struct token *token, const struct token *body)
{
    if (token <= body + 1)
        return body != NULL && token == body + 1 && !is_mark(token + 1, ":");
    const bool guarded = token[-1].kind == TOKEN_NAME &&
                         (is_mark(token - 2, "@") || (is_mark(token - 2, "!") && is_mark(token - 3, "@")));
    return (guarded || is_mark(token - 1, ";{}:")) && !is_mark(token + 1, ":");
}

/* Copies the text of tokens, with colliding names replaced. `body` is the opening brace of their function, if
 * any. */
static void put_tokens(struct output *output, const struct text *text, const struct token *first,
                       const struct token *end, const struct token *body)
{
    const char *from = first->text;
    if (first == end)
        return;
    for (const struct token *token = first; text->rename_count != 0 && token < end; token++) {
        const char *to = renamed(text, token);
        if (to == NULL || (body != NULL && token > body && is_opcode(token, body)))
            continue;
        put(output, from, (size_t)(token->text - from));
        put_string(output, to);
        from = token->text + token->length;
    }
    put(output, from, (size_t)(end[-1].text + end[-1].length - from));
}

static const struct token *past_linkage(const struct token *token)
{
    while (ptx_token_is(token, ".extern") || ptx_token_is(token, ".visible") ||
           ptx_token_is(token, ".weak") || ptx_token_is(token, ".common"))
        token++;
    return token;
}

/* Writes the highest version and target of all texts; sm_90a is above sm_90. */
static void put_directives(struct output *output, const struct ptx_link *link)
{
    const struct token *version = NULL, *target = NULL;
    uint32_t highest = 0, newest = 0;
    for (size_t i = 0; i < link->count; i++) {
        const struct text *text = &link->texts[i];
        const struct token *own = text->symbols.target;
        if (version == NULL || text->module->version > newest) {
            version = text->symbols.version;
            newest = text->module->version;
        }
        if (own != NULL && (target == NULL || text->module->target > highest ||
                            (text->module->target == highest && own->length > target->length))) {
            target = own;
            highest = text->module->target;
        }
    }
    put_string(output, ".version ");
    put(output, version != NULL ? version->text : "6.0", version != NULL ? version->length : 3);
    put_string(output, "\n.target ");
    put(output, target != NULL ? target->text : "sm_50", target != NULL ? target->length : 5);
    put_string(output, "\n.address_size 64\n");
}

static void put_prototypes(struct output *output, const struct text *text)
{
    for (size_t i = 0; i < text->symbols.count; i++) {
        const struct symbol *symbol = &text->symbols.list[i];
        if (!symbol->function || symbol->dropped || (symbol->entry && symbol->body != NULL))
            continue;
        put_tokens(output, text, symbol->first, symbol->body != NULL ? symbol->body : symbol->end, NULL);
        put_string(output, symbol->body != NULL ? ";\n" : "\n");
    }
}

static bool is_first_shared(const struct ptx_link *link, const struct symbol *symbol)
{
    for (size_t i = 0; i < link->count; i++)
        for (size_t j = 0; j < link->texts[i].symbols.count; j++) {
            const struct symbol *other = &link->texts[i].symbols.list[j];
            if (other->shared && ptx_same_name(other->name, symbol->name))
                return other == symbol;
        }
    return false;
}

/* Declares the variables that a text may name before the text that defines them. */
static void put_declarations(struct output *output, const struct ptx_link *link, const struct text *text)
{
    for (size_t i = 0; i < text->symbols.count; i++) {
        const struct symbol *symbol = &text->symbols.list[i];
        const bool defines = symbol->name != NULL && !symbol->function && !symbol->dropped &&
                             ptx_is_definition(symbol) && symbol->linkage != LINKAGE_STATIC;
        const bool dynamic = symbol->shared && is_first_shared(link, symbol) &&
                             ptx_find_global(link, symbol->name, NULL) == NULL;
        if (!defines && !dynamic)
            continue;
        const struct token *to = symbol->from, *first = past_linkage(symbol->first);
        while (to < symbol->to && !is_mark(to, "="))
            to++;
        if (dynamic ||
            !ptx_token_is(first, ".shared")) /* .shared variables have no initial value: this defines them */
            put_string(output, ".extern ");
        put_tokens(output, text, first, symbol->end, NULL);
        put_string(output, " ");
        put_tokens(output, text, symbol->from, to, NULL);
        put_string(output, ";\n");
    }
}

static void put_definitions(struct output *output, const struct text *text)
{
    for (size_t i = 0; i < text->symbols.count; i++) {
        const struct symbol *symbol = &text->symbols.list[i];
        if (symbol->name != NULL && (!ptx_is_definition(symbol) || symbol->dropped))
            continue;
        if (symbol->from != NULL && symbol->linkage != LINKAGE_STATIC &&
            ptx_token_is(past_linkage(symbol->first), ".shared"))
            continue; /* written by put_declarations */
        put_tokens(output, text, symbol->first, symbol->end, symbol->body);
        if (symbol->from != NULL) {
            put_string(output, " ");
            put_tokens(output, text, symbol->from, symbol->to, NULL);
            put_string(output, ";");
        }
        put_string(output, "\n");
    }
}

char *ptx_write_product(const struct ptx_link *link, size_t *bytes)
{
    struct output output = {NULL, 0, 0, false};
    put_directives(&output, link);
    for (size_t i = 0; i < link->count; i++)
        put_prototypes(&output, &link->texts[i]);
    for (size_t i = 0; i < link->count; i++)
        put_declarations(&output, link, &link->texts[i]);
    for (size_t i = 0; i < link->count; i++)
        put_definitions(&output, &link->texts[i]);
    if (output.failed) {
        free(output.bytes);
        return NULL;
    }
    output.bytes[output.used] = '\0';
    *bytes = output.used;
    return output.bytes;
}
