/* The helpers that all rules share. */
#include "replay/capture/check.h"

#include "core/wire/record.h"
#include "replay/base/error.h"

enum { ARRAY_MAX = 4096 };

int nb_check_each(struct nb_checker *checker, const char *what, uint32_t count, nb_rule *rule)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *why = rule(checker, i);
        if (why != NULL)
            return nb_error(checker->error, NB_REPLAY_BAD_CAPTURE, "%s %u: %s", what, i, why);
    }
    return NB_REPLAY_OK;
}

bool nb_span_is_inside(const struct nb_reader *reader, struct nb_span span)
{
    return span.bytes == 0 || (span.offset % 8 == 0 && span.offset <= reader->data_bytes &&
                               span.bytes <= reader->data_bytes - span.offset);
}

bool nb_span_is_text(const struct nb_reader *reader, struct nb_span span)
{
    return span.bytes <= NB_STRING_MAX && nb_span_is_inside(reader, span);
}

bool nb_span_is_array(const struct nb_reader *reader, struct nb_span span, size_t element_bytes)
{
    return span.bytes % element_bytes == 0 && span.bytes / element_bytes <= ARRAY_MAX &&
           nb_span_is_inside(reader, span);
}

const char nb_no_text[] = "a text that is too long, or not in the data";
const char nb_no_array[] = "an array that is too long, not whole, or not in the data";
