#include "driver/memory/residency.h"

#include <pthread.h>
#include <stdlib.h>

/* Sorted and disjoint. Memory outside of all segments has no advice. */
struct segment {
    struct segment *next;
    uint64_t begin, end;
    struct sim_residency state;
};

static struct segment *segments;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool insert(struct segment **link, uint64_t begin, uint64_t end, const struct sim_residency *state)
{
    struct segment *made = malloc(sizeof(*made));
    if (made == NULL)
        return false;
    *made = (struct segment){*link, begin, end, *state};
    *link = made;
    return true;
}

/* Split the segment that contains `address`, if any. */
static bool split(uint64_t address)
{
    for (struct segment *at = segments; at != NULL && at->begin < address; at = at->next)
        if (at->end > address) {
            if (!insert(&at->next, address, at->end, &at->state))
                return false;
            at->end = address;
            return true;
        }
    return true;
}

/* Make the segments cover all of [begin, end). */
static bool fill(uint64_t begin, uint64_t end)
{
    static const struct sim_residency none;
    struct segment **link = &segments;
    for (uint64_t next = begin; next < end;) {
        while (*link != NULL && (*link)->end <= next)
            link = &(*link)->next;
        if (*link == NULL || (*link)->begin > next) {
            const uint64_t gap_end = *link == NULL || (*link)->begin > end ? end : (*link)->begin;
            if (!insert(link, next, gap_end, &none))
                return false;
        }
        next = (*link)->end;
    }
    return true;
}

static void change(struct sim_residency *state, enum sim_residency_field field,
                   const struct sim_residency *wanted)
{
    switch (field) {
    case SIM_RESIDENCY_READ_MOSTLY:
        state->read_mostly = wanted->read_mostly;
        break;
    case SIM_RESIDENCY_ACCESSED_BY_ADD:
        state->accessed_by |= wanted->accessed_by;
        break;
    case SIM_RESIDENCY_ACCESSED_BY_REMOVE:
        state->accessed_by &= ~wanted->accessed_by;
        break;
    case SIM_RESIDENCY_PREFERRED:
        state->preferred = wanted->preferred;
        break;
    case SIM_RESIDENCY_PREFETCHED:
        state->prefetched = wanted->prefetched;
        break;
    }
}

bool sim_residency_set(uint64_t begin, uint64_t end, enum sim_residency_field field,
                       const struct sim_residency *wanted)
{
    pthread_mutex_lock(&lock);
    const bool done = split(begin) && split(end) && fill(begin, end);
    for (struct segment *at = segments; done && at != NULL; at = at->next)
        if (at->begin >= begin && at->end <= end)
            change(&at->state, field, wanted);
    pthread_mutex_unlock(&lock);
    return done;
}

static void join(struct sim_place *common, const struct sim_place *place)
{
    if (common->type != place->type || common->id != place->id)
        *common = (struct sim_place){CU_MEM_LOCATION_TYPE_INVALID, 0};
}

struct sim_residency sim_residency_common(uint64_t begin, uint64_t end)
{
    struct sim_residency common = {0};
    uint64_t next = begin;
    pthread_mutex_lock(&lock);
    for (const struct segment *at = segments; at != NULL && next < end; at = at->next) {
        if (at->end <= next)
            continue;
        if (at->begin > next)
            break;
        if (next == begin) {
            common = at->state;
        } else {
            common.read_mostly = common.read_mostly && at->state.read_mostly;
            common.accessed_by &= at->state.accessed_by;
            join(&common.preferred, &at->state.preferred);
            join(&common.prefetched, &at->state.prefetched);
        }
        next = at->end;
    }
    pthread_mutex_unlock(&lock);
    return next < end ? (struct sim_residency){0} : common;
}

/* Segments never extend beyond one allocation. */
void sim_residency_forget(uint64_t begin, uint64_t end)
{
    pthread_mutex_lock(&lock);
    for (struct segment **link = &segments; *link != NULL;) {
        struct segment *at = *link;
        if (at->begin >= begin && at->end <= end) {
            *link = at->next;
            free(at);
        } else {
            link = &at->next;
        }
    }
    pthread_mutex_unlock(&lock);
}
