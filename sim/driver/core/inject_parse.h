/* The syntax of SIM_INJECT:
 *
 *     rules   = rule { ";" rule }            empty rules are skipped
 *     rule    = names [ ":" when ] "=" action
 *             | "@memory" "=" BYTES          fail allocations beyond that many live bytes
 *             | "@version" "=" NUMBER        version that cuDriverGetVersion reports
 *             | "@seed" "=" NUMBER           seed of the probabilities
 *     names   = name of an export (cuMemAlloc_v2), or a pattern with * and ? (cuMemcpy*)
 *     when    = N | N "-" [ M ] | "*" | P "%"   calls, counted from 1 per rule, or a probability
 *     action  = "fail(" CODE ")"             return the number or name (CUDA_ERROR_UNKNOWN) at once
 *             | "delay(" N UNIT ")"          wait, in us, ms or s, before the call
 *             | "drop"                       hide the export from cuGetProcAddress; its symbol stays
 *
 * Without `when` a rule applies to every call. The first failing rule wins; delays before it still happen.
 * BYTES may end in K, M or G. Spaces are ignored. */
#ifndef NEUTRINO_SIM_INJECT_PARSE_H
#define NEUTRINO_SIM_INJECT_PARSE_H

#include "driver/core/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_action { SIM_FAIL, SIM_DELAY, SIM_DROP };

struct sim_rule {
    unsigned char *matches; /* one byte per function */
    uint64_t first, last;   /* range of calls, unless by_chance */
    bool by_chance;
    double chance;
    enum sim_action action;
    CUresult result;
    uint64_t delay_ns;
    uint64_t calls; /* number of calls so far */
};

struct sim_rules {
    struct sim_rule *rules;
    size_t count;
    size_t memory_bytes; /* SIZE_MAX: no limit */
    int version;         /* 0: unchanged */
    uint64_t seed;
};

/* Position of a syntax error, counted from 1, and its description, a literal. */
struct sim_rules_error {
    size_t character;
    const char *why;
};

/* NULL on error, with `error` filled in. Free the result with sim_rules_free. */
struct sim_rules *sim_rules_parse(const char *text, struct sim_rules_error *error);
void sim_rules_free(struct sim_rules *rules);

#endif
