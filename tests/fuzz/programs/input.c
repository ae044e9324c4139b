/* Generate an input: select items of a seed text, mutate the tokens, write them, mutate the bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

static void make_room(struct input *input, size_t room)
{
    if (room <= input->room)
        return;
    input->room = 2 * room;
    input->bytes = realloc(input->bytes, input->room);
    if (input->bytes == NULL) {
        fputs("fuzz: out of memory\n", stderr);
        exit(2);
    }
}

void input_splice(struct input *input, size_t at, size_t removed, const void *inserted, size_t count)
{
    if (input->size - removed + count > INPUT_MAX)
        return;
    make_room(input, input->size + count + 1);
    memmove(input->bytes + at + count, input->bytes + at + removed, input->size - at - removed);
    if (count != 0)
        memcpy(input->bytes + at, inserted, count);
    input->size += count - removed;
}

static void add_item(const struct text *text, const struct item *item, struct tokens *tokens)
{
    for (size_t i = item->begin; i < item->end; i++)
        tokens_add(tokens, text->tokens.at[i]);
}

/* Selects one or two functions with their dependencies, or sometimes a whole small text. */
void choose_items(const struct corpus *corpus, struct random *random, struct tokens *tokens)
{
    const struct text *text = &corpus->texts[random_below(random, corpus->count)];
    const size_t count = text->item_count;
    tokens->count = 0;
    if (count == 0)
        return;
    const bool all = count == 1 || (text->size < 65536 && random_one_in(random, 50));
    const size_t one = random_below(random, count);
    const size_t other = random_one_in(random, 4) ? random_below(random, count) : one;
    for (size_t i = 0; i < count; i++)
        if (all || i == 0 || text->needs[one * count + i] || text->needs[other * count + i])
            add_item(text, &text->items[i], tokens);
}

static void write_out(const struct tokens *tokens, struct input *input)
{
    input->size = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->at[i];
        if (input->size + token->length + 1 > INPUT_MAX)
            return;
        make_room(input, input->size + token->length + 1);
        if (token->before != 0)
            input->bytes[input->size++] = (unsigned char)token->before;
        memcpy(input->bytes + input->size, token->text, token->length);
        input->size += token->length;
    }
}

static const struct text *choose_bytes(const struct corpus *corpus, struct random *random,
                                       struct input *input)
{
    const struct text *text = &corpus->texts[random_below(random, corpus->count)];
    input->size = 0;
    input_splice(input, 0, 0, text->bytes, text->size);
    return text;
}

void make_input(const struct corpus *corpus, enum style style, uint64_t seed, uint64_t number,
                struct input *input)
{
    struct random random = {seed};
    random.state = random_next(&random) ^ (number * UINT64_C(0xd1342543de82ef95));
    make_room(input, 1);
    input->size = 0;
    if (style == STYLE_BINARY) {
        (void)choose_bytes(corpus, &random, input);
        mutate_bytes(corpus, &random, input);
        return;
    }
    if (style == STYLE_CAPTURE) {
        mutate_capture(choose_bytes(corpus, &random, input), &random, input);
        return;
    }
    struct tokens tokens = {0};
    choose_items(corpus, &random, &tokens);
    if (tokens.count != 0)
        mutate_tokens(corpus, style, &random, &tokens);
    write_out(&tokens, input);
    free(tokens.at);
    if (style == STYLE_HOSTILE && random_one_in(&random, 3))
        mutate_bytes(corpus, &random, input);
}
