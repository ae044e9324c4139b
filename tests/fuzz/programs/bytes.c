/* Mutate bytes: invalid characters in texts; sizes, offsets and magic numbers in binaries. */
#include <string.h>

#include "mutate.h"

static void flip(struct random *random, struct input *input, size_t at)
{
    input->bytes[at] ^= (unsigned char)(1u << random_below(random, 8));
}

/* Mutates a 16-, 32- or 64-bit field: an edge value, or a small step up or down. */
static void change_field(struct random *random, struct input *input, size_t at)
{
    static const uint64_t edges[] = {0,          1,          7,          0x7f,       0x80,       0xff,
                                     0x7fff,     0xffff,     0x10000,    0x7fffffff, 0x80000000, 0xfffffff0,
                                     0xffffffff, 1ull << 32, 1ull << 63, UINT64_MAX};
    const size_t width = (size_t)2 << random_below(random, 3);
    uint64_t value = 0;
    at = random_one_in(random, 4) ? at : at / width * width;
    if (input->size < width || at > input->size - width)
        return;
    memcpy(&value, input->bytes + at, width);
    if (random_one_in(random, 2))
        value = edges[random_below(random, sizeof edges / sizeof *edges)];
    else
        value += random_below(random, 65) - 32u;
    memcpy(input->bytes + at, &value, width);
}

static void copy_from(const struct text *text, struct random *random, struct input *input, size_t at)
{
    if (text->size == 0)
        return;
    const size_t from = random_below(random, text->size), most = text->size - from;
    const size_t count = 1 + random_scale(random, 10);
    input_splice(input, at, 0, text->bytes + from, count < most ? count : most);
}

static void change(const struct corpus *corpus, struct random *random, struct input *input)
{
    const size_t at = random_below(random, input->size);
    size_t count = 1 + random_scale(random, 8);
    count = count < input->size - at ? count : input->size - at;
    unsigned char one;
    switch (random_below(random, 8)) {
    case 0:
        flip(random, input, at);
        break;
    case 1:
        input->bytes[at] = (unsigned char)random_next(random);
        break;
    case 2:
        input_splice(input, at, count, NULL, 0);
        break;
    case 3:
        one = random_one_in(random, 2) ? 0 : (unsigned char)random_next(random);
        input_splice(input, at, 0, &one, 1);
        break;
    case 4:
        memset(input->bytes + at, random_one_in(random, 2) ? 0 : 0xff, count);
        break;
    case 5:
        copy_from(&corpus->texts[random_below(random, corpus->count)], random, input, at);
        break;
    case 6:
        change_field(random, input, random_one_in(random, 2) ? at % 128 : at);
        break;
    default:
        if (random_one_in(random, 4))
            input->size = at;
        else
            change_field(random, input, at);
        break;
    }
}

void mutate_bytes(const struct corpus *corpus, struct random *random, struct input *input)
{
    const size_t changes = 1 + random_scale(random, 4);
    for (size_t i = 0; i < changes && input->size != 0; i++)
        change(corpus, random, input);
}
