/* Seed texts, split into tokens and top-level items: functions, declarations, variables. */
#ifndef NEUTRINO_FUZZ_CORPUS_H
#define NEUTRINO_FUZZ_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind { TOKEN_WORD, TOKEN_DIRECTIVE, TOKEN_NUMBER, TOKEN_MARK, TOKEN_STRING, TOKEN_OTHER };

struct token {
    const char *text;
    uint32_t length;
    uint8_t kind;
    char before; /* the preceding blank, or 0 */
};

struct tokens {
    struct token *at;
    size_t count, room;
};

struct item {
    size_t begin, end; /* range of its tokens */
    struct token name; /* length 0 if the item has no name */
    bool has_body;
};

struct text {
    unsigned char *bytes;
    size_t size;
    struct tokens tokens;
    struct item *items; /* the first holds .version, .target and .address_size */
    size_t item_count;
    bool *needs; /* item_count x item_count: whether an item depends on another, directly or indirectly */
};

struct corpus {
    struct text *texts;
    size_t count;
};

/* Exits with a message if a file cannot be read. */
void corpus_read(struct corpus *corpus, char *const *paths, size_t count);
void corpus_free(struct corpus *corpus);

void tokens_add(struct tokens *tokens, struct token token);
void tokens_cut(struct tokens *tokens, const char *text, size_t bytes);
bool token_equals(const struct token *token, const char *text);

#endif
