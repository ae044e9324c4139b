#include "core/image/msgpack.h"

static bool take_number(struct nb_view *from, uint64_t width, uint64_t *number)
{
    *number = 0;
    if (width > from->bytes)
        return false;
    for (uint64_t i = 0; i < width; i++) /* big-endian */
        *number = *number << 8 | from->start[i];
    *from = (struct nb_view){from->start + width, from->bytes - width};
    return true;
}

static bool take_bytes(struct nb_view *from, uint64_t bytes, struct nb_view *part)
{
    if (!nb_view_narrow(*from, 0, bytes, part))
        return false;
    *from = (struct nb_view){from->start + bytes, from->bytes - bytes};
    return true;
}

static bool take_text(struct nb_view *from, uint64_t width, struct nb_msgpack *item)
{
    uint64_t bytes;
    item->kind = NB_MSGPACK_TEXT;
    return take_number(from, width, &bytes) && take_bytes(from, bytes, &item->text);
}

/* Read an item count. At most as many items as bytes left are valid. */
static bool take_count(struct nb_view *from, uint64_t width, enum nb_msgpack_kind kind,
                       struct nb_msgpack *item)
{
    item->kind = kind;
    return take_number(from, width, &item->number) &&
           item->number <= from->bytes / (kind == NB_MSGPACK_MAP ? 2 : 1);
}

bool nb_msgpack_take(struct nb_view *from, struct nb_msgpack *item)
{
    struct nb_view skipped;
    uint64_t first, bytes;
    *item = (struct nb_msgpack){.kind = NB_MSGPACK_OTHER};
    if (!take_number(from, 1, &first))
        return false;
    if (first <= 0x7f) {
        item->kind = NB_MSGPACK_NUMBER;
        item->number = first;
        return true;
    }
    if (first <= 0x9f) { /* a map of up to 15 pairs, an array of up to 15 items */
        item->kind = first <= 0x8f ? NB_MSGPACK_MAP : NB_MSGPACK_ARRAY;
        item->number = first & 15;
        return item->number <= from->bytes;
    }
    if (first <= 0xbf) {
        item->kind = NB_MSGPACK_TEXT;
        return take_bytes(from, first & 31, &item->text);
    }
    switch (first) {
    case 0xc1: /* never used */
        return false;
    case 0xc4: /* bytes */
    case 0xc5:
    case 0xc6:
        return take_text(from, UINT64_C(1) << (first - 0xc4), item);
    case 0xc7: /* an extension: its size, its type */
    case 0xc8:
    case 0xc9:
        return take_number(from, UINT64_C(1) << (first - 0xc7), &bytes) &&
               take_bytes(from, bytes + 1, &skipped);
    case 0xca: /* floating point */
    case 0xcb:
        return take_bytes(from, UINT64_C(4) << (first - 0xca), &skipped);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        item->kind = NB_MSGPACK_NUMBER;
        return take_number(from, UINT64_C(1) << (first - 0xcc), &item->number);
    case 0xd0: /* signed */
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return take_bytes(from, UINT64_C(1) << (first - 0xd0), &skipped);
    case 0xd4: /* an extension of 1, 2 ... 16 bytes */
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return take_bytes(from, (UINT64_C(1) << (first - 0xd4)) + 1, &skipped);
    case 0xd9:
    case 0xda:
    case 0xdb:
        return take_text(from, UINT64_C(1) << (first - 0xd9), item);
    case 0xdc:
    case 0xdd:
        return take_count(from, UINT64_C(2) << (first - 0xdc), NB_MSGPACK_ARRAY, item);
    case 0xde:
    case 0xdf:
        return take_count(from, UINT64_C(2) << (first - 0xde), NB_MSGPACK_MAP, item);
    default: /* nil, false, true, a small negative number */
        return true;
    }
}

bool nb_msgpack_skip(struct nb_view *from)
{
    struct nb_msgpack item;
    for (uint64_t pending = 1; pending > 0;) {
        if (!nb_msgpack_take(from, &item))
            return false;
        pending--;
        if (item.kind == NB_MSGPACK_ARRAY || item.kind == NB_MSGPACK_MAP)
            pending += item.kind == NB_MSGPACK_MAP ? 2 * item.number : item.number;
        if (pending > from->bytes)
            return false;
    }
    return true;
}

bool nb_msgpack_find(struct nb_view map, uint64_t pairs, const char *key, struct nb_view *value)
{
    for (; pairs > 0; pairs--) {
        struct nb_msgpack item;
        *value = map;
        if (!nb_msgpack_take(value, &item))
            return false;
        if (nb_msgpack_is(&item, key))
            return true;
        if (!nb_msgpack_skip(&map) || !nb_msgpack_skip(&map))
            return false;
    }
    return false;
}

bool nb_msgpack_is(const struct nb_msgpack *item, const char *text)
{
    return item->kind == NB_MSGPACK_TEXT && item->text.bytes == strlen(text) &&
           memcmp(item->text.start, text, item->text.bytes) == 0;
}
