/* Words of a PTX text (PTX ISA, "Lexical Elements"). Comments and strings count as blanks. */
#ifndef NEUTRINO_PTX_TEXT_H
#define NEUTRINO_PTX_TEXT_H

#include "core/image/view.h"

struct nb_ptx_text {
    const unsigned char *at, *end;
};

/* Take the next word: a directive with its dot, a name, a number, or one other byte. False at the end of
 * the text or at a byte of 0. */
bool nb_ptx_take(struct nb_ptx_text *text, struct nb_view *word) __attribute__((visibility("hidden")));

bool nb_ptx_is(struct nb_view word, const char *text) __attribute__((visibility("hidden")));

/* Can this byte begin a name or a number? */
bool nb_ptx_is_word(unsigned char byte) __attribute__((visibility("hidden")));

/* Return the bracket depth after this word. */
uint32_t nb_ptx_depth(struct nb_view word, uint32_t depth) __attribute__((visibility("hidden")));

/* Why another reader may divide the text into other words, so that a word could be where this one sees a
 * comment or a string; NULL if none may. */
const char *nb_ptx_ambiguity(struct nb_view text) __attribute__((visibility("hidden")));

#endif
