#include "driver/core/inject.h"

#include "driver/core/inject_parse.h"
#include "driver/core/message.h"
#include "driver/memory/heap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

atomic_int sim_watched = 1;

/* The innermost lock: call nothing while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sim_rules *rules; /* NULL: no rules */
static uint64_t random_state;
static atomic_int version;
static CUresult start_result = CUDA_SUCCESS;

const CUuuid sim_inject_table_id = {"neutrino-inject"};
const struct sim_inject_table sim_inject_table = {sizeof sim_inject_table, simInject};

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static CUresult replace(const char *text)
{
    struct sim_rules_error error = {0};
    struct sim_rules *fresh = NULL;
    if (text != NULL && *text != '\0') {
        fresh = sim_rules_parse(text, &error);
        if (fresh == NULL) {
            sim_print("SIM_INJECT: at character %zu, '%.24s': %s", error.character,
                      text + error.character - 1, error.why);
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    pthread_mutex_lock(&lock);
    struct sim_rules *old = rules;
    rules = fresh;
    random_state = fresh == NULL ? 0 : fresh->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    atomic_store(&version, fresh == NULL ? 0 : fresh->version);
    sim_heap_set_ceiling(fresh == NULL ? SIZE_MAX : fresh->memory_bytes);
    atomic_store(&sim_watched, fresh != NULL && fresh->count != 0);
    pthread_mutex_unlock(&lock);
    sim_rules_free(old);
    return CUDA_SUCCESS;
}

static void start(void)
{
    const int failed = pthread_atfork(before_fork, after_fork, after_fork);
    start_result = failed != 0 ? CUDA_ERROR_OPERATING_SYSTEM : replace(getenv("SIM_INJECT"));
    if (start_result != CUDA_SUCCESS)
        atomic_store(&sim_watched, 0);
}

CUresult sim_inject_start(void)
{
    pthread_once(&once, start);
    return start_result;
}

/* splitmix64: the same sequence of calls fails in the same places. */
static double next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static bool applies(struct sim_rule *rule, unsigned number)
{
    if (rule->action == SIM_DROP || !rule->matches[number])
        return false;
    rule->calls++;
    return rule->by_chance ? next_random() < rule->chance
                           : rule->calls >= rule->first && rule->calls <= rule->last;
}

static void wait(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

int sim_inject(unsigned number)
{
    const int saved = errno;
    int result = -1;
    uint64_t delay_ns = 0;
    (void)sim_inject_start();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; rules != NULL && i < rules->count; i++) {
        struct sim_rule *rule = &rules->rules[i];
        if (!applies(rule, number) || result >= 0)
            continue; /* each rule counts every call */
        if (rule->action == SIM_FAIL)
            result = (int)rule->result;
        else
            delay_ns += rule->delay_ns;
    }
    pthread_mutex_unlock(&lock);
    if (delay_ns != 0)
        wait(delay_ns);
    errno = saved;
    return result;
}

bool sim_inject_drops(const char *symbol)
{
    bool drops = false;
    (void)sim_inject_start();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; rules != NULL && i < rules->count && !drops; i++)
        for (unsigned j = 0; rules->rules[i].action == SIM_DROP && j < sim_function_count && !drops; j++)
            drops = rules->rules[i].matches[j] && strcmp(sim_functions[j], symbol) == 0;
    pthread_mutex_unlock(&lock);
    return drops;
}

int sim_inject_version(void)
{
    (void)sim_inject_start();
    return atomic_load(&version);
}

CUresult simInject(const char *text)
{
    (void)sim_inject_start();
    return replace(text);
}
