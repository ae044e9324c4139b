/* Read seed texts and split them into items with their dependencies. */
#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void die(const char *path, const char *why)
{
    fprintf(stderr, "fuzz: %s: %s\n", path, why);
    exit(2);
}

static void read_bytes(struct text *text, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        die(path, "cannot be opened");
    const long size = ftell(file);
    rewind(file);
    text->size = size > 0 ? (size_t)size : 0;
    text->bytes = malloc(text->size + 1);
    if (text->bytes == NULL || fread(text->bytes, 1, text->size, file) != text->size)
        die(path, "cannot be read");
    fclose(file);
}

/* The name after .entry or .func and the results; for a variable, the word before its size, value or end. */
static struct token name_of(const struct tokens *tokens, size_t begin, size_t end, bool *is_function)
{
    struct token name = {0};
    int depth = 0;
    *is_function = false;
    for (size_t i = begin; i < end; i++) {
        const struct token *token = &tokens->at[i];
        if (token_equals(token, ".entry") || token_equals(token, ".func"))
            *is_function = true;
        depth += token_equals(token, "(") ? 1 : token_equals(token, ")") ? -1 : 0;
        if (depth == 0 && token->kind == TOKEN_WORD) {
            name = *token;
            if (*is_function)
                return name;
        }
        if (!*is_function && (token_equals(token, "[") || token_equals(token, "=")))
            return name;
    }
    return name;
}

static void add_item(struct text *text, size_t begin, size_t end, bool has_body)
{
    if (begin == end)
        return;
    text->items = realloc(text->items, (text->item_count + 1) * sizeof *text->items);
    if (text->items == NULL)
        die("corpus", "out of memory");
    bool is_function;
    const struct token name = name_of(&text->tokens, begin, end, &is_function);
    text->items[text->item_count++] =
        (struct item){.begin = begin, .end = end, .name = name, .has_body = has_body && is_function};
}

static void cut_items(struct text *text)
{
    const struct tokens *tokens = &text->tokens;
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->at[i];
        if (text->item_count == 0 && i > 0 && token_equals(token - 1, ".address_size")) {
            add_item(text, begin, i + 1, false);
            begin = i + 1;
            continue;
        }
        depth += token_equals(token, "{") ? 1 : token_equals(token, "}") ? -1 : 0;
        const bool closes = token_equals(token, "}");
        if (depth != 0 || (!closes && !token_equals(token, ";")))
            continue;
        if (closes && i + 1 < tokens->count && token_equals(token + 1, ";"))
            continue;
        add_item(text, begin, i + 1, closes);
        begin = i + 1;
    }
    add_item(text, begin, tokens->count, false);
}

static bool names(const struct text *text, const struct item *item, const struct token *name)
{
    for (size_t i = item->begin; name->length != 0 && i < item->end; i++) {
        const struct token *token = &text->tokens.at[i];
        if (token->length == name->length && memcmp(token->text, name->text, name->length) == 0)
            return true;
    }
    return false;
}

static void find_needs(struct text *text)
{
    const size_t count = text->item_count;
    text->needs = calloc(count * count + 1, sizeof *text->needs);
    if (text->needs == NULL)
        die("corpus", "out of memory");
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            text->needs[i * count + j] = i == j || names(text, &text->items[i], &text->items[j].name);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; text->needs[i * count + k] && j < count; j++)
                text->needs[i * count + j] |= text->needs[k * count + j];
}

void corpus_read(struct corpus *corpus, char *const *paths, size_t count)
{
    corpus->texts = calloc(count + 1, sizeof *corpus->texts);
    corpus->count = count;
    if (corpus->texts == NULL || count == 0)
        die("corpus", "needs a file");
    for (size_t i = 0; i < count; i++) {
        struct text *text = &corpus->texts[i];
        read_bytes(text, paths[i]);
        tokens_cut(&text->tokens, (const char *)text->bytes, text->size);
        cut_items(text);
        find_needs(text);
    }
}

void corpus_free(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++) {
        free(corpus->texts[i].bytes);
        free(corpus->texts[i].tokens.at);
        free(corpus->texts[i].items);
        free(corpus->texts[i].needs);
    }
    free(corpus->texts);
}
