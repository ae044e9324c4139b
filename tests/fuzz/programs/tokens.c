/* Splits a text into words, numbers and marks. It may split differently from the parser. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"

void tokens_add(struct tokens *tokens, struct token token)
{
    if (tokens->count == tokens->room) {
        tokens->room = tokens->room != 0 ? 2 * tokens->room : 256;
        tokens->at = realloc(tokens->at, tokens->room * sizeof *tokens->at);
        if (tokens->at == NULL) {
            fputs("fuzz: out of memory\n", stderr);
            exit(2);
        }
    }
    tokens->at[tokens->count++] = token;
}

bool token_equals(const struct token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static size_t comment_length(const char *text, size_t bytes)
{
    if (bytes < 2 || text[0] != '/' || (text[1] != '/' && text[1] != '*'))
        return 0;
    const bool block = text[1] == '*';
    for (size_t i = 2; i < bytes; i++) {
        if (!block && text[i] == '\n')
            return i;
        if (block && text[i] == '/' && text[i - 1] == '*' && i > 2)
            return i + 1;
    }
    return bytes;
}

static size_t string_length(const char *text, size_t bytes)
{
    size_t length = 1;
    while (length < bytes && text[length] != '"' && text[length] != '\n')
        length++;
    return length < bytes ? length + 1 : length;
}

static size_t word_length(const char *text, size_t bytes, bool number)
{
    size_t length = 1;
    while (length < bytes && (is_word(text[length]) || (number && text[length] == '.') ||
                              (!number && text[0] == '.' && text[length] == ':')))
        length++;
    return length;
}

void tokens_cut(struct tokens *tokens, const char *text, size_t bytes)
{
    char before = 0;
    for (size_t at = 0; at < bytes;) {
        const size_t comment = comment_length(text + at, bytes - at);
        if (comment != 0 || isspace((unsigned char)text[at])) {
            before = text[at] == '\n' || before == '\n' ? '\n' : ' ';
            at += comment != 0 ? comment : 1;
            continue;
        }
        struct token token = {.text = text + at, .length = 1, .kind = TOKEN_OTHER, .before = before};
        const size_t rest = bytes - at;
        if (isdigit((unsigned char)text[at])) {
            token.kind = TOKEN_NUMBER;
            token.length = (uint32_t)word_length(text + at, rest, true);
        } else if (is_word(text[at])) {
            token.kind = TOKEN_WORD;
            token.length = (uint32_t)word_length(text + at, rest, false);
        } else if (text[at] == '.') {
            token.kind = TOKEN_DIRECTIVE;
            token.length = (uint32_t)word_length(text + at, rest, false);
        } else if (text[at] == '"') {
            token.kind = TOKEN_STRING;
            token.length = (uint32_t)string_length(text + at, rest);
        } else if (ispunct((unsigned char)text[at])) {
            token.kind = TOKEN_MARK;
        }
        tokens_add(tokens, token);
        at += token.length;
        before = 0;
    }
}
