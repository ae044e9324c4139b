#include "inline/mark.h"

#include <dlfcn.h>
#include <stdio.h>

#include "inline/arena.h"

static char phase[] = "timing";
static char label[96]; /* outside the arena: the shim reads it while the arena is closed */

void nb_mark_find(struct nb_session *session)
{
    session->mark = (void *(*)(void *, void *))dlsym(RTLD_DEFAULT, "neutrino_phase");
}

/* benchguard/audit/sample_marks.py reads the labels. */
static void mark(const struct nb_session *session, uint32_t sample, const char *suffix)
{
    if (session->mark == NULL)
        return;
    (void)snprintf(label, sizeof label, "case %u sample %u%s", session->result.case_number, sample, suffix);
    (void)nb_gate_lend(session->mark, phase, label);
}

void nb_mark_begin(const struct nb_session *session, uint32_t sample)
{
    mark(session, sample, "");
}

void nb_mark_end(const struct nb_session *session, uint32_t sample)
{
    mark(session, sample, session->joins_all ? " queued" : " queued, other streams unjoined");
}
