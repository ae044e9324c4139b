#include "target_id.h"

/* kind, architecture, vendor, system and environment stand before it; older compilers left the environment
 * out with its hyphen. */
#define PARTS_BEFORE     5
#define PARTS_BEFORE_OLD 4

static const char processor_prefix[] = "gfx";

static bool begins(struct nb_view text, const char *word)
{
    const size_t length = strlen(word);
    return text.bytes >= length && memcmp(text.start, word, length) == 0;
}

static struct nb_view after(struct nb_view text, uint64_t bytes)
{
    return (struct nb_view){text.start + bytes, text.bytes - bytes};
}

/* What stands before the next `end`, and that taken off the text with it. */
static struct nb_view take_until(struct nb_view *text, char end)
{
    const unsigned char *found = text->bytes != 0 ? memchr(text->start, end, text->bytes) : NULL;
    const struct nb_view part = {text->start, found != NULL ? (uint64_t)(found - text->start) : text->bytes};
    *text = after(*text, part.bytes + (found != NULL));
    return part;
}

static bool are_equal(struct nb_view one, struct nb_view other)
{
    return one.bytes == other.bytes && (one.bytes == 0 || memcmp(one.start, other.start, one.bytes) == 0);
}

static struct nb_view target_of(struct nb_view id)
{
    for (int part = 0; part < PARTS_BEFORE; part++) {
        if (part == PARTS_BEFORE_OLD && begins(id, processor_prefix))
            break;
        take_until(&id, '-');
    }
    return id;
}

static bool has_feature(struct nb_view features, struct nb_view wanted)
{
    while (features.bytes != 0)
        if (are_equal(take_until(&features, ':'), wanted))
            return true;
    return false;
}

int nb_target_fits(struct nb_view id, const char *target)
{
    struct nb_view code = target_of(id);
    struct nb_view device = {(const unsigned char *)target, strlen(target)};
    const struct nb_view processor = take_until(&code, ':');
    int features = 0;
    if (processor.bytes == 0 || !are_equal(processor, take_until(&device, ':')))
        return -1;
    for (; code.bytes != 0; features++)
        if (!has_feature(device, take_until(&code, ':')))
            return -1;
    return features;
}
