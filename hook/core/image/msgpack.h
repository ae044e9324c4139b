/* MessagePack (github.com/msgpack/msgpack, spec.md), as far as the metadata of code objects needs it.
 * Reads one item at a time, copies nothing, and rejects incomplete items. */
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
    uint64_t number; /* the number; or the item count of an array, or the pair count of a map */
    struct nb_view text;
};

/* Take one item from the front. For an array or a map, take its head alone. False if no complete item is
 * left. */
bool nb_msgpack_take(struct nb_view *from, struct nb_msgpack *item) __attribute__((visibility("hidden")));

/* Take one item with everything inside it. The time is linear in `from` for any nesting. */
bool nb_msgpack_skip(struct nb_view *from) __attribute__((visibility("hidden")));

/* Find the value of a key. `map` is a map's pairs after its head; `value` begins at the value. False if
 * the key is missing. */
bool nb_msgpack_find(struct nb_view map, uint64_t pairs, const char *key, struct nb_view *value)
    __attribute__((visibility("hidden")));

bool nb_msgpack_is(const struct nb_msgpack *item, const char *text) __attribute__((visibility("hidden")));

#endif
