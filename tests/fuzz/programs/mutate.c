/* Mutate tokens: compiler output with a few errors. */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

#include "words.h"

enum { TOKENS_MAX = 1 << 18 };

/* Replaces `removed` tokens by `times` copies of `count` others, which must not be part of `tokens`. */
static void splice(struct tokens *tokens, size_t at, size_t removed, const struct token *inserted,
                   size_t count, size_t times)
{
    const size_t added = count * times;
    if (tokens->count - removed + added > TOKENS_MAX)
        return;
    const size_t tail = tokens->count - at - removed;
    for (size_t i = removed; i < added; i++) /* make room; the tokens there are moved next */
        tokens_add(tokens, (struct token){0});
    memmove(tokens->at + at + added, tokens->at + at + removed, tail * sizeof *tokens->at);
    for (size_t i = 0; i < added; i++)
        tokens->at[at + i] = inserted[i % count];
    tokens->count = at + added + tail;
}

static struct token word(const char *text)
{
    return (struct token){
        .text = text, .length = (uint32_t)strlen(text), .kind = TOKEN_OTHER, .before = '\n'};
}

static size_t any_of_kind(const struct tokens *tokens, struct random *random, uint8_t kind)
{
    for (int tries = 0; tries < 40; tries++) {
        const size_t at = random_below(random, tokens->count);
        if (tokens->at[at].kind == kind)
            return at;
    }
    return random_below(random, tokens->count);
}

static void replace_word(struct tokens *tokens, size_t at, const char *text)
{
    const uint8_t kind = tokens->at[at].kind;
    const char before = tokens->at[at].before;
    tokens->at[at] = word(text);
    tokens->at[at].kind = kind;
    tokens->at[at].before = before;
}

static const struct tokens *any_text(const struct corpus *corpus, struct random *random)
{
    return &corpus->texts[random_below(random, corpus->count)].tokens;
}

/* Finds the statement around a token: from after a semicolon or brace to the next semicolon, at most `most`
 * tokens. */
static void statement_around(const struct tokens *tokens, size_t at, size_t *begin, size_t *end)
{
    enum { MOST = 60 };
    *begin = at;
    *end = at;
    while (*begin > 0 && at - *begin < MOST && !token_equals(&tokens->at[*begin - 1], ";") &&
           !token_equals(&tokens->at[*begin - 1], "{"))
        (*begin)--;
    while (*end < tokens->count - 1 && *end - at < MOST && !token_equals(&tokens->at[*end], ";"))
        (*end)++;
    (*end)++;
}

/* Copies tokens first: inserting may move the array that they come from. */
static void insert_statement(struct tokens *tokens, const struct tokens *from, struct random *random,
                             size_t times)
{
    size_t begin, end, at_begin, at;
    struct token copy[128];
    if (from->count == 0)
        return;
    statement_around(from, random_below(random, from->count), &begin, &end);
    memcpy(copy, from->at + begin, (end - begin) * sizeof *copy);
    statement_around(tokens, random_below(random, tokens->count), &at_begin, &at);
    splice(tokens, at, 0, copy, end - begin, times);
}

static void nest(struct tokens *tokens, struct random *random, size_t depth)
{
    static const char *const marks[] = {"{", "(", "[", "}", ")", "-", "!", "{.reg .b32 %n;", "/*", "@"};
    const struct token mark = word(marks[random_below(random, COUNT_OF(marks))]);
    splice(tokens, random_below(random, tokens->count), 0, &mark, 1, depth);
}

static void swap(struct tokens *tokens, size_t one, size_t other)
{
    const struct token kept = tokens->at[one];
    tokens->at[one] = tokens->at[other];
    tokens->at[other] = kept;
}

/* Changes that mostly leave a text that is still valid. */
static void mutate_gently(const struct corpus *corpus, struct random *random, struct tokens *tokens)
{
    size_t at, begin, end;
    switch (random_below(random, 9)) {
    case 0: /* replace by another register, label or name of the text */
        at = any_of_kind(tokens, random, TOKEN_WORD);
        tokens->at[at] = tokens->at[any_of_kind(tokens, random, TOKEN_WORD)];
        break;
    case 1:
        replace_word(tokens, any_of_kind(tokens, random, TOKEN_NUMBER),
                     edge_numbers[random_below(random, COUNT_OF(edge_numbers))]);
        break;
    case 2:
        replace_word(tokens, any_of_kind(tokens, random, TOKEN_DIRECTIVE),
                     types[random_below(random, COUNT_OF(types))]);
        break;
    case 3:
        replace_word(tokens, any_of_kind(tokens, random, TOKEN_DIRECTIVE),
                     modifiers[random_below(random, COUNT_OF(modifiers))]);
        break;
    case 4:
        insert_statement(tokens, any_text(corpus, random), random, 1);
        break;
    case 5:
        insert_statement(tokens, tokens, random, 1);
        break;
    case 6:
        statement_around(tokens, random_below(random, tokens->count), &begin, &end);
        splice(tokens, begin, end - begin, NULL, 0, 0);
        break;
    case 7: {
        const struct token inserted = word(statements[random_below(random, COUNT_OF(statements))]);
        statement_around(tokens, random_below(random, tokens->count), &begin, &end);
        splice(tokens, end, 0, &inserted, 1, 1);
        break;
    }
    default: {
        const uint8_t kind = (uint8_t)random_below(random, TOKEN_MARK);
        swap(tokens, any_of_kind(tokens, random, kind), any_of_kind(tokens, random, kind));
        break;
    }
    }
}

static void mutate_hostilely(const struct corpus *corpus, struct random *random, struct tokens *tokens)
{
    const size_t at = random_below(random, tokens->count);
    size_t count = 1 + random_scale(random, 4);
    count = count < tokens->count - at ? count : tokens->count - at;
    const struct tokens *other = any_text(corpus, random);
    switch (random_below(random, 9)) {
    case 0:
        splice(tokens, at, count, NULL, 0, 0);
        break;
    case 1: {
        struct token copy[32];
        memcpy(copy, tokens->at + at, count * sizeof *copy);
        splice(tokens, random_below(random, tokens->count), 0, copy, count, 1);
        break;
    }
    case 2:
        swap(tokens, at, random_below(random, tokens->count));
        break;
    case 3: {
        const size_t from = random_below(random, other->count);
        const size_t most = other->count - from, wanted = 1 + random_scale(random, 9);
        splice(tokens, at, random_one_in(random, 2) ? count : 0, other->at + from,
               wanted < most ? wanted : most, 1);
        break;
    }
    case 4: {
        const struct token inserted = word(statements[random_below(random, COUNT_OF(statements))]);
        splice(tokens, at, 0, &inserted, 1, 1);
        break;
    }
    case 5:
        tokens->at[at] = other->at[any_of_kind(other, random, tokens->at[at].kind)];
        break;
    case 6:
        nest(tokens, random, random_scale(random, random_one_in(random, 50) ? 14 : 7));
        break;
    case 7:
        insert_statement(tokens, random_one_in(random, 2) ? tokens : other, random,
                         random_scale(random, random_one_in(random, 50) ? 12 : 6));
        break;
    default:
        tokens->count = at + 1; /* truncate the text */
        break;
    }
}

void mutate_tokens(const struct corpus *corpus, enum style style, struct random *random,
                   struct tokens *tokens)
{
    const size_t changes = 1 + random_scale(random, style == STYLE_GENTLE ? 2 : 3);
    for (size_t i = 0; i < changes && tokens->count != 0; i++)
        if (style == STYLE_GENTLE || random_one_in(random, 2))
            mutate_gently(corpus, random, tokens);
        else
            mutate_hostilely(corpus, random, tokens);
}
