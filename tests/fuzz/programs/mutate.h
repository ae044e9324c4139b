/* Generate inputs from a corpus: the same seed and number give the same bytes. */
#ifndef NEUTRINO_FUZZ_MUTATE_H
#define NEUTRINO_FUZZ_MUTATE_H

#include "corpus.h"
#include "random.h"

enum { INPUT_MAX = 4 << 20 };

enum style {
    STYLE_HOSTILE, /* arbitrary mutations, for parsers */
    STYLE_GENTLE,  /* few mutations that usually keep a text valid, so that it runs */
    STYLE_BINARY,  /* bytes only */
    STYLE_CAPTURE  /* tables of a capture file */
};

struct input {
    unsigned char *bytes;
    size_t size, room;
};

/* `input` is reused between calls; the caller frees its bytes at the end. */
void make_input(const struct corpus *corpus, enum style style, uint64_t seed, uint64_t number,
                struct input *input);

/* Parts of an input. */
void choose_items(const struct corpus *corpus, struct random *random, struct tokens *tokens);
void mutate_tokens(const struct corpus *corpus, enum style style, struct random *random,
                   struct tokens *tokens);
void mutate_bytes(const struct corpus *corpus, struct random *random, struct input *input);
void mutate_capture(const struct text *text, struct random *random, struct input *input);

/* Replaces `removed` bytes at `at`; drops bytes beyond the size limit. */
void input_splice(struct input *input, size_t at, size_t removed, const void *inserted, size_t count);

#endif
