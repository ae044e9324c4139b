#include "ptx/lexer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/diagnostic.h"

struct lexer {
    const char *at, *end;
    uint32_t line;
    struct token *tokens;
    size_t count, room;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static const char *word_end(const struct lexer *lexer, const char *from)
{
    while (from < lexer->end && is_word(*from))
        from++;
    return from;
}

static bool skip_comment(struct lexer *lexer)
{
    const char *at = lexer->at;
    if (lexer->end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return false;
    const bool block = at[1] == '*';
    for (at += 2; at < lexer->end; at++) {
        if (*at == '\n') {
            if (!block)
                break;
            lexer->line++;
        } else if (block && *at == '*' && lexer->end - at > 1 && at[1] == '/') {
            at += 2;
            break;
        }
    }
    lexer->at = at;
    return true;
}

/* Skips blanks and comments and returns whether it found any. */
static bool skip_blanks(struct lexer *lexer)
{
    const char *from = lexer->at;
    while (lexer->at < lexer->end) {
        if (*lexer->at == '\n')
            lexer->line++;
        else if (!isspace((unsigned char)*lexer->at) && *lexer->at != 0) {
            if (!skip_comment(lexer))
                break;
            continue;
        }
        lexer->at++;
    }
    return lexer->at != from;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static void read_digits(const char **at, const char *end, int base, uint64_t *value)
{
    for (; *at < end && digit_of(**at) < base; (*at)++)
        *value = *value * (uint64_t)base + (uint64_t)digit_of(**at);
}

/* 0f and 0d literals: exact bit patterns. */
static bool read_bit_pattern(struct lexer *lexer, struct token *token)
{
    const char *at = lexer->at;
    if (lexer->end - at < 3 || at[0] != '0')
        return false;
    const char letter = (char)tolower((unsigned char)at[1]);
    const int digits = letter == 'f' ? 8 : letter == 'd' ? 16 : 0;
    if (digits == 0 || lexer->end - at < 2 + digits)
        return false;
    const char *from = at + 2;
    uint64_t bits = 0;
    read_digits(&from, at + 2 + digits, 16, &bits);
    if (from != at + 2 + digits)
        return false;
    token->kind = TOKEN_FLOAT;
    token->single = letter == 'f';
    token->bits = bits;
    lexer->at = from;
    return true;
}

static bool read_decimal_fraction(struct lexer *lexer, struct token *token)
{
    char copy[64];
    size_t length = 0;
    bool fraction = false;
    for (const char *at = lexer->at; at < lexer->end && length < sizeof copy - 1; at++, length++) {
        const bool sign =
            (*at == '+' || *at == '-') && length > 0 && tolower((unsigned char)copy[length - 1]) == 'e';
        if (!isdigit((unsigned char)*at) && *at != '.' && tolower((unsigned char)*at) != 'e' && !sign)
            break;
        fraction = fraction || !isdigit((unsigned char)*at);
        copy[length] = *at;
    }
    if (!fraction)
        return false;
    copy[length] = 0;
    char *rest;
    const double value = strtod(copy, &rest);
    token->kind = TOKEN_FLOAT;
    token->single = false;
    memcpy(&token->bits, &value, sizeof value);
    lexer->at += rest - copy;
    return rest != copy;
}

static void read_integer(struct lexer *lexer, struct token *token)
{
    int base = 10;
    const char *at = lexer->at;
    if (*at == '0' && lexer->end - at > 1) {
        const char letter = (char)tolower((unsigned char)at[1]);
        base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
        at += base == 8 ? 1 : 2;
    }
    token->kind = TOKEN_INTEGER;
    token->bits = 0;
    read_digits(&at, lexer->end, base, &token->bits);
    if (at < lexer->end && (*at == 'U' || *at == 'u'))
        at++;
    lexer->at = at;
}

static bool read_token(struct lexer *lexer, struct token *token, struct ptx_diagnostic *diagnostic)
{
    const char *at = lexer->at;
    if (isdigit((unsigned char)*at)) {
        if (!read_bit_pattern(lexer, token) && !read_decimal_fraction(lexer, token))
            read_integer(lexer, token);
    } else if (is_word(*at)) {
        token->kind = TOKEN_NAME;
        lexer->at = word_end(lexer, at);
    } else if (*at == '.' && lexer->end - at > 1 && is_word(at[1])) {
        token->kind = TOKEN_DIRECTIVE;
        lexer->at = word_end(lexer, at + 1);
        while (lexer->end - lexer->at > 2 && lexer->at[0] == ':' && lexer->at[1] == ':')
            lexer->at = word_end(lexer, lexer->at + 2);
    } else if (*at == '"') {
        token->kind = TOKEN_STRING;
        at++;
        while (at < lexer->end && *at != '"' && *at != '\n') /* ptxas knows no escapes */
            at++;
        lexer->at = at < lexer->end ? at + 1 : at;
    } else if (strchr("{}()[],;:<>=@!+-|&~*/?", *at) != NULL && *at != 0) {
        token->kind = TOKEN_MARK;
        token->mark = *at;
        lexer->at = at + 1;
    } else {
        diagnose(diagnostic, lexer->line, "line %u: '%c' (byte %u) is not valid in PTX", lexer->line,
                 isprint((unsigned char)*at) ? *at : '?', (unsigned char)*at);
        return false;
    }
    return true;
}

static struct token *add_token(struct lexer *lexer)
{
    if (lexer->count == lexer->room) {
        const size_t room = lexer->room != 0 ? 2 * lexer->room : 1024;
        struct token *tokens = realloc(lexer->tokens, room * sizeof *tokens);
        if (tokens == NULL)
            return NULL;
        lexer->tokens = tokens;
        lexer->room = room;
    }
    struct token *token = &lexer->tokens[lexer->count++];
    *token = (struct token){.line = lexer->line, .text = lexer->at};
    return token;
}

struct token *ptx_lex(const char *text, size_t bytes, struct ptx_diagnostic *diagnostic)
{
    struct lexer lexer = {.at = text, .end = text + bytes, .line = 1};
    if (bytes > INT32_MAX) {
        diagnose(diagnostic, 0, "the text has %zu bytes, more than the limit of 2 GiB", bytes);
        return NULL;
    }
    for (;;) {
        const bool blanks = skip_blanks(&lexer);
        struct token *token = add_token(&lexer);
        if (token == NULL) {
            diagnose(diagnostic, lexer.line, "out of memory for the tokens of a text of %zu bytes", bytes);
            break;
        }
        token->adjacent = !blanks;
        if (lexer.at >= lexer.end)
            return lexer.tokens;
        if (!read_token(&lexer, token, diagnostic))
            break;
        token->length = (uint32_t)(lexer.at - token->text);
    }
    free(lexer.tokens);
    return NULL;
}

bool ptx_token_is(const struct token *token, const char *text)
{
    const size_t length = strlen(text);
    return token->length == length && memcmp(token->text, text, length) == 0;
}
