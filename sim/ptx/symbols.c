#include "ptx/symbols.h"

#include <stdlib.h>

#include "ptx/program.h"

static bool at_end(const struct token *token)
{
    return token->kind == TOKEN_END;
}

/* Returns the mark that ends the statement at `token`, outside all brackets, or the end of the text. */
static const struct token *find_mark(const struct token *token, const char *marks)
{
    int depth = 0;
    for (; !at_end(token); token++) {
        const char mark = token->kind == TOKEN_MARK ? token->mark : ' ';
        if (depth == 0)
            for (const char *wanted = marks; *wanted != '\0'; wanted++)
                if (mark == *wanted)
                    return token;
        depth += mark == '(' || mark == '[' || mark == '{';
        depth -= mark == ')' || mark == ']' || mark == '}';
    }
    return token;
}

static const struct token *past(const struct token *token)
{
    return at_end(token) ? token : token + 1;
}

static const struct token *find_name_outside(const struct token *token)
{
    int depth = 0;
    for (; !at_end(token) && (depth != 0 || token->kind != TOKEN_NAME); token++)
        depth += ptx_token_is(token, "(") ? 1 : ptx_token_is(token, ")") ? -1 : 0;
    return token;
}

static struct symbol *add(struct symbols *symbols, const struct symbol *symbol)
{
    struct symbol *list = ptx_grow(symbols->list, symbols->count, &symbols->room, sizeof *list);
    if (list == NULL)
        return NULL;
    symbols->list = list;
    list[symbols->count] = *symbol;
    return &list[symbols->count++];
}

static const struct token *read_function(struct symbols *symbols, struct symbol *symbol,
                                         const struct token *directive)
{
    symbol->function = true;
    symbol->entry = ptx_token_is(directive, ".entry");
    symbol->name = find_name_outside(directive + 1);
    const struct token *mark = find_mark(past(symbol->name), ";{");
    while (!at_end(mark) && mark[-1].kind == TOKEN_STRING) /* skip .pragma "..."; among the attributes */
        mark = find_mark(past(mark), ";{");
    symbol->body = ptx_token_is(mark, "{") ? mark : NULL;
    symbol->end = past(symbol->body != NULL ? find_mark(past(mark), "}") : mark);
    if (symbol->entry && symbol->linkage == LINKAGE_STATIC)
        symbol->linkage = LINKAGE_VISIBLE; /* cuModuleGetFunction finds every kernel by name */
    return add(symbols, symbol) != NULL ? symbol->end : NULL;
}

static const struct token *read_variables(struct symbols *symbols, struct symbol *symbol,
                                          const struct token *directive)
{
    symbol->shared = ptx_token_is(directive, ".shared") && symbol->linkage == LINKAGE_EXTERN;
    symbol->end = find_name_outside(directive);
    symbol->to = symbol->end;
    do {
        symbol->from = symbol->name = symbol->to;
        symbol->to = find_mark(past(symbol->from), ",;");
        if (add(symbols, symbol) == NULL)
            return NULL;
        const bool more = ptx_token_is(symbol->to, ",");
        symbol->to = past(symbol->to);
        if (!more)
            return symbol->to;
    } while (!at_end(symbol->to));
    return symbol->to;
}

static enum linkage read_linkage(const struct token **at)
{
    enum linkage linkage = LINKAGE_STATIC;
    for (;; (*at)++) {
        if (ptx_token_is(*at, ".extern"))
            linkage = LINKAGE_EXTERN;
        else if (ptx_token_is(*at, ".common"))
            linkage = LINKAGE_COMMON;
        else if (ptx_token_is(*at, ".weak"))
            linkage = LINKAGE_WEAK;
        else if (ptx_token_is(*at, ".visible"))
            linkage = LINKAGE_VISIBLE;
        else
            return linkage;
    }
}

static const struct token *skip_line_of(const struct token *token)
{
    const uint32_t line = token->line;
    while (!at_end(token) && token->line == line)
        token++;
    return token;
}

/* Reads one statement and returns the start of the next; NULL if out of memory. */
static const struct token *read_statement(struct symbols *symbols, const struct token *at)
{
    struct symbol symbol = {.first = at};
    symbol.linkage = read_linkage(&at);
    if (ptx_token_is(at, ".func") || ptx_token_is(at, ".entry"))
        return read_function(symbols, &symbol, at);
    if (ptx_token_is(at, ".global") || ptx_token_is(at, ".const") || ptx_token_is(at, ".shared"))
        return read_variables(symbols, &symbol, at);
    if (ptx_token_is(at, ".version") || ptx_token_is(at, ".target")) {
        *(ptx_token_is(at, ".target") ? &symbols->target : &symbols->version) = past(at);
        for (at = past(past(at)); ptx_token_is(at, ",");)
            at = past(past(at));
        return at;
    }
    if (ptx_token_is(at, ".address_size"))
        return past(past(at));
    if (ptx_token_is(at, ".file") || ptx_token_is(at, ".loc"))
        return skip_line_of(at);
    if (ptx_token_is(at, ".section"))
        return past(find_mark(past(find_mark(at, "{")), "}"));
    symbol.end = past(find_mark(at, ";"));
    return add(symbols, &symbol) != NULL ? symbol.end : NULL;
}

bool ptx_symbols_read(const char *text, size_t bytes, struct symbols *symbols)
{
    struct ptx_diagnostic ignored = {0};
    *symbols = (struct symbols){.tokens = ptx_lex(text, bytes, &ignored)};
    const struct token *at = symbols->tokens;
    while (at != NULL && !at_end(at))
        at = read_statement(symbols, at);
    return at != NULL;
}

void ptx_symbols_free(struct symbols *symbols)
{
    free(symbols->tokens);
    free(symbols->list);
    *symbols = (struct symbols){NULL, NULL, 0, 0, NULL, NULL};
}
