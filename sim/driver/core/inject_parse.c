#include "driver/core/inject_parse.h"

#include "driver/core/error.h"
#include "driver/core/watch.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 128 };

struct reader {
    const char *start;
    const char *at;
    struct sim_rules_error *error;
};

static bool wrong(const struct reader *reader, const char *why)
{
    *reader->error = (struct sim_rules_error){(size_t)(reader->at - reader->start) + 1, why};
    return false;
}

static void skip_space(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
}

static bool take(struct reader *reader, const char *word)
{
    skip_space(reader);
    const size_t length = strlen(word);
    if (strncmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static bool read_number(struct reader *reader, uint64_t *number)
{
    skip_space(reader);
    char *end;
    if (*reader->at < '0' || *reader->at > '9')
        return wrong(reader, "expected a number");
    *number = strtoull(reader->at, &end, 10);
    if (end - reader->at > 18)
        return wrong(reader, "number too large");
    reader->at = end;
    return true;
}

static bool read_bytes(struct reader *reader, uint64_t *bytes)
{
    static const char units[] = "KMG";
    if (!read_number(reader, bytes))
        return false;
    const char *unit = *reader->at == '\0' ? NULL : strchr(units, *reader->at);
    const unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    reader->at += unit != NULL;
    if (*bytes > UINT64_MAX >> shift)
        return wrong(reader, "number too large");
    *bytes <<= shift;
    return true;
}

static bool read_names(struct reader *reader, struct sim_rule *rule)
{
    char pattern[NAME_MAX_BYTES];
    bool any = false;
    skip_space(reader);
    const size_t length = strcspn(reader->at, ":=; \t\r\n");
    if (length == 0)
        return wrong(reader, "expected the name of a function");
    if (length >= sizeof pattern)
        return wrong(reader, "function name too long");
    memcpy(pattern, reader->at, length);
    pattern[length] = '\0';
    rule->matches = calloc(sim_function_count, 1);
    if (rule->matches == NULL)
        return wrong(reader, "out of memory");
    for (unsigned i = 0; i < sim_function_count; i++) {
        rule->matches[i] = fnmatch(pattern, sim_functions[i], 0) == 0;
        any = any || rule->matches[i];
    }
    if (!any)
        return wrong(reader, "unknown export (some need the suffix _v2 or _ptsz)");
    reader->at += length;
    return true;
}

static bool read_chance(struct reader *reader, struct sim_rule *rule)
{
    char *end;
    skip_space(reader);
    const double percent = strtod(reader->at, &end);
    if (end == reader->at || *end != '%')
        return false;
    rule->by_chance = percent >= 0 && percent <= 100;
    rule->chance = percent / 100;
    reader->at = rule->by_chance ? end + 1 : reader->at;
    return true;
}

static bool read_when(struct reader *reader, struct sim_rule *rule)
{
    if (take(reader, "*"))
        return true;
    if (read_chance(reader, rule))
        return rule->by_chance || wrong(reader, "expected a probability from 0% to 100%");
    if (!read_number(reader, &rule->first))
        return false;
    rule->last = rule->first;
    if (take(reader, "-")) {
        skip_space(reader);
        rule->last = UINT64_MAX;
        if (*reader->at >= '0' && *reader->at <= '9' && !read_number(reader, &rule->last))
            return false;
    }
    return (rule->first != 0 && rule->first <= rule->last) ||
           wrong(reader, "expected an ascending range of calls, counted from 1");
}

static bool read_result(struct reader *reader, CUresult *result)
{
    uint64_t code;
    skip_space(reader);
    const size_t length = strspn(reader->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (sim_error_find(reader->at, length, result)) {
        reader->at += length;
        return true;
    }
    if (*reader->at < '0' || *reader->at > '9')
        return wrong(reader, "unknown result code");
    if (!read_number(reader, &code))
        return false;
    *result = (CUresult)code;
    return code <= 9999 || wrong(reader, "result code too large (at most four digits)");
}

static bool read_delay(struct reader *reader, uint64_t *ns)
{
    if (!read_number(reader, ns))
        return false;
    const uint64_t unit = take(reader, "us")   ? 1000
                          : take(reader, "ms") ? 1000000
                          : take(reader, "s")  ? 1000000000
                                               : 0;
    if (unit == 0)
        return wrong(reader, "expected a unit of time: us, ms or s");
    if (*ns > 3600 * UINT64_C(1000000000) / unit)
        return wrong(reader, "delay too long (at most one hour)");
    *ns *= unit;
    return true;
}

static bool read_action(struct reader *reader, struct sim_rule *rule)
{
    skip_space(reader);
    bool read;
    if (take(reader, "fail(")) {
        rule->action = SIM_FAIL;
        read = read_result(reader, &rule->result);
    } else if (take(reader, "delay(")) {
        rule->action = SIM_DELAY;
        read = read_delay(reader, &rule->delay_ns);
    } else if (take(reader, "drop")) {
        rule->action = SIM_DROP;
        return true;
    } else {
        return wrong(reader, "unknown action; use fail(CODE), delay(TIME) or drop");
    }
    return read && (take(reader, ")") || wrong(reader, "expected ')'"));
}

static bool read_setting(struct reader *reader, struct sim_rules *rules)
{
    uint64_t number;
    const char *name = reader->at;
    const size_t length = strcspn(name, "=; \t\r\n");
    const bool memory = length == 7 && memcmp(name, "@memory", length) == 0;
    const bool version = length == 8 && memcmp(name, "@version", length) == 0;
    const bool seed = length == 5 && memcmp(name, "@seed", length) == 0;
    if (!memory && !version && !seed)
        return wrong(reader, "unknown setting; use @memory, @version or @seed");
    reader->at += length;
    if (!take(reader, "="))
        return wrong(reader, "expected '='");
    if (memory ? !read_bytes(reader, &number) : !read_number(reader, &number))
        return false;
    if (version && (number < 2000 || number > 99999))
        return wrong(reader, "expected a version as from cuDriverGetVersion: 12040 for 12.4");
    if (memory)
        rules->memory_bytes = (size_t)number;
    else if (version)
        rules->version = (int)number;
    else
        rules->seed = number;
    return true;
}

static bool read_rule(struct reader *reader, struct sim_rules *rules)
{
    skip_space(reader);
    if (*reader->at == '@')
        return read_setting(reader, rules);
    struct sim_rule *grown = realloc(rules->rules, (rules->count + 1) * sizeof *grown);
    if (grown == NULL)
        return wrong(reader, "out of memory");
    rules->rules = grown;
    struct sim_rule *rule = &grown[rules->count++];
    *rule = (struct sim_rule){.first = 1, .last = UINT64_MAX};
    if (!read_names(reader, rule) || (take(reader, ":") && !read_when(reader, rule)))
        return false;
    if (!take(reader, "="))
        return wrong(reader, "expected '='");
    return read_action(reader, rule);
}

static bool read_rules(struct reader *reader, struct sim_rules *rules)
{
    for (;;) {
        skip_space(reader);
        if (*reader->at == '\0')
            return true;
        if (*reader->at != ';' && !read_rule(reader, rules))
            return false;
        skip_space(reader);
        if (*reader->at != '\0' && !take(reader, ";"))
            return wrong(reader, "expected ';' between rules");
    }
}

struct sim_rules *sim_rules_parse(const char *text, struct sim_rules_error *error)
{
    struct reader reader = {.start = text, .at = text, .error = error};
    struct sim_rules *rules = calloc(1, sizeof *rules);
    if (rules == NULL) {
        (void)wrong(&reader, "out of memory");
        return NULL;
    }
    rules->memory_bytes = SIZE_MAX;
    rules->seed = 1;
    if (read_rules(&reader, rules))
        return rules;
    sim_rules_free(rules);
    return NULL;
}

void sim_rules_free(struct sim_rules *rules)
{
    if (rules == NULL)
        return;
    for (size_t i = 0; i < rules->count; i++)
        free(rules->rules[i].matches);
    free(rules->rules);
    free(rules);
}
