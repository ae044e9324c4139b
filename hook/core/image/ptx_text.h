/* Words of a PTX text: PTX ISA, "Lexical Elements". Comments and strings are blanks here. */
#ifndef NEUTRINO_PTX_TEXT_H
#define NEUTRINO_PTX_TEXT_H

#include "core/image/view.h"

struct nb_ptx_text {
    const unsigned char *at, *end;
};

/* The next word: a directive with its point, a name, a number, or else one byte. False at the end, which is a
 * byte of 0, too. */
bool nb_ptx_take(struct nb_ptx_text *text, struct nb_view *word) __attribute__((visibility("hidden")));

bool nb_ptx_is(struct nb_view word, const char *text) __attribute__((visibility("hidden")));

/* Does it begin as a name or a number does? */
bool nb_ptx_is_word(unsigned char byte) __attribute__((visibility("hidden")));

/* How many brackets are open after this word. */
uint32_t nb_ptx_depth(struct nb_view word, uint32_t depth) __attribute__((visibility("hidden")));

#endif
