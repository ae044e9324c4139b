/* The rules of elements that refer to operations and memory: refusals and named ranges. */
#include "replay/capture/check.h"

bool nb_reader_is_refused(const struct nb_reader *reader)
{
    for (uint32_t i = 0; i < reader->refusal_count; i++)
        if ((reader->refusals[i].flags & NB_REFUSAL_ADDRESS) == 0)
            return true;
    return false;
}

static const char *check_refusal(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_refusal *refusal = &checker->reader->refusals[index];
    if (refusal->operation > checker->reader->operation_count)
        return "no such operation";
    if ((refusal->flags & ~(uint32_t)(NB_REFUSAL_READ | NB_REFUSAL_ADDRESS)) != 0)
        return "unknown flags";
    return nb_span_is_text(checker->reader, refusal->call) &&
                   nb_span_is_text(checker->reader, refusal->reason)
               ? NULL
               : nb_no_text;
}

static const char *check_range(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_range *range = &checker->reader->ranges[index];
    if (range->role < NB_CAPTURE_INPUT || range->role > NB_CAPTURE_STATE)
        return "an unknown role";
    if (!nb_span_is_text(checker->reader, range->name) || !nb_span_is_text(checker->reader, range->type))
        return nb_no_text;
    if (!nb_span_is_array(checker->reader, range->shape, sizeof(uint64_t)))
        return nb_no_array;
    return nb_memory_holds(checker, range->address, range->bytes)
               ? NULL
               : "it is outside every allocation and global";
}

int nb_check_references(struct nb_checker *checker)
{
    const struct nb_reader *reader = checker->reader;
    const int status = nb_check_each(checker, "refusal", reader->refusal_count, check_refusal);
    return status != NB_REPLAY_OK ? status
                                  : nb_check_each(checker, "range", reader->range_count, check_range);
}
