#include "core/region/selection.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A number without sign or blanks, up to `end`. */
static bool parse_number(const char **text, uint64_t *number)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**text))
        return false;
    const int saved = errno;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    const bool fits = errno == 0;
    errno = saved;
    *text = end;
    return fits;
}

static bool skip(const char **text, const char *prefix)
{
    const size_t length = strlen(prefix);
    if (strncmp(*text, prefix, length) != 0)
        return false;
    *text += length;
    return true;
}

bool nb_selection_parse(const char *text, struct nb_selection *selection)
{
    memset(selection, 0, sizeof *selection);
    if (text == NULL || strcmp(text, "program") == 0)
        return true;
    if (skip(&text, "launches=")) {
        selection->kind = NB_SELECT_LAUNCHES;
        return parse_number(&text, &selection->from) && skip(&text, ":") &&
               parse_number(&text, &selection->to) && *text == 0 && selection->from < selection->to;
    }
    if (skip(&text, "kernel=")) {
        selection->kind = NB_SELECT_KERNEL;
        if (!parse_number(&text, &selection->nth) || !skip(&text, ":"))
            return false;
        selection->pattern = text;
        return selection->nth > 0 && *text != 0;
    }
    if (skip(&text, "window=")) {
        selection->kind = NB_SELECT_WINDOW;
        return parse_number(&text, &selection->nth) && *text == 0 && selection->nth > 0;
    }
    return false;
}

static enum nb_step launch(struct nb_selection *selection, const char *name)
{
    const uint64_t index = selection->launches++;
    if (selection->kind == NB_SELECT_LAUNCHES) {
        if (index == selection->from)
            return NB_STEP_BEGIN;
        return index == selection->to ? NB_STEP_END : NB_STEP_NONE;
    }
    if (selection->kind != NB_SELECT_KERNEL)
        return NB_STEP_NONE;
    if (selection->matches == selection->nth)
        return NB_STEP_END;
    if (!nb_kernel_name_matches(selection->pattern, name))
        return NB_STEP_NONE;
    return ++selection->matches == selection->nth ? NB_STEP_BEGIN : NB_STEP_NONE;
}

enum nb_step nb_selection_operation(struct nb_selection *selection, const char *name)
{
    selection->work++;
    return name != NULL ? launch(selection, name) : NB_STEP_NONE;
}

static struct nb_selection_event *event_of(struct nb_selection *selection, uint64_t stream)
{
    for (uint32_t i = 0; i < selection->streams; i++)
        if (selection->events[i].stream == stream)
            return &selection->events[i];
    if (selection->streams == NB_SELECTION_STREAMS)
        return NULL;
    struct nb_selection_event *event = &selection->events[selection->streams++];
    event->stream = stream;
    return event;
}

enum nb_step nb_selection_timing_event(struct nb_selection *selection, uint64_t stream)
{
    struct nb_selection_event *event =
        selection->kind == NB_SELECT_WINDOW ? event_of(selection, stream) : NULL;
    if (event == NULL || selection->pairs == selection->nth)
        return NB_STEP_NONE;
    const bool is_second = event->waits && event->work != selection->work;
    const bool is_open = selection->window != 0;
    event->waits = !is_second;
    event->work = selection->work;
    if (is_open && selection->window != stream + 1)
        return NB_STEP_NONE;
    if (is_second && is_open) {
        selection->pairs++;
        return NB_STEP_END;
    }
    /* The selected pair must begin after the pairs before it: a pair that has begun does not count. */
    const bool is_next = selection->pairs + 1 == selection->nth;
    if (is_second && !is_next)
        selection->pairs++;
    if (is_second || is_open || !is_next)
        return NB_STEP_NONE;
    selection->window = stream + 1;
    return NB_STEP_BEGIN;
}

bool nb_selection_has_all_launches(const struct nb_selection *selection)
{
    return (selection->kind == NB_SELECT_LAUNCHES && selection->launches >= selection->to) ||
           (selection->kind == NB_SELECT_KERNEL && selection->matches == selection->nth);
}

void nb_selection_restart(struct nb_selection *selection)
{
    selection->launches = selection->matches = selection->pairs = selection->work = selection->window = 0;
    selection->streams = 0;
    memset(selection->events, 0, sizeof selection->events);
}
