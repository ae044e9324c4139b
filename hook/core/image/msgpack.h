/* MessagePack (github.com/msgpack/msgpack, spec.md), as far as the metadata of code objects needs it: one
 * item at a time, nothing copied, no item read that is not whole. */
#ifndef NEUTRINO_MSGPACK_H
#define NEUTRINO_MSGPACK_H

#include "core/image/view.h"

enum nb_msgpack_kind {
    NB_MSGPACK_OTHER, /* nil, a boolean, a negative or floating-point number, an extension */
    NB_MSGPACK_NUMBER,
    NB_MSGPACK_TEXT, /* a string or bytes */
    NB_MSGPACK_ARRAY,
    NB_MSGPACK_MAP
};

struct nb_msgpack {
    enum nb_msgpack_kind kind;
    uint64_t number; /* what it is; how many items (an array) or pairs (a map) follow */
    struct nb_view text;
};

/* Take an item off the front: of an array or a map, its head alone. False if there is no whole one. */
bool nb_msgpack_take(struct nb_view *from, struct nb_msgpack *item) __attribute__((visibility("hidden")));

/* Take an item off, with all that is in it. In time that is linear in `from`, however it is nested. */
bool nb_msgpack_skip(struct nb_view *from) __attribute__((visibility("hidden")));

/* Find what a key stands for: `map` is a map's pairs, behind its head; `value` begins with what was found.
 * False if there is no such key. */
bool nb_msgpack_find(struct nb_view map, uint64_t pairs, const char *key, struct nb_view *value)
    __attribute__((visibility("hidden")));

bool nb_msgpack_is(const struct nb_msgpack *item, const char *text) __attribute__((visibility("hidden")));

#endif
