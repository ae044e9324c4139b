#include "driver/core/stub.h"

#include "driver/core/log.h"
#include "driver/core/message.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* More names than any header has. If the table is full, a name may be reported twice. */
#define NAMES_MAX 1024

static const char *names[NAMES_MAX];
static size_t name_count;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_first_report(const char *name)
{
    bool first = true;
    pthread_mutex_lock(&names_lock);
    for (size_t i = 0; i < name_count && first; i++)
        first = strcmp(names[i], name) != 0;
    if (first && name_count < NAMES_MAX)
        names[name_count++] = name;
    pthread_mutex_unlock(&names_lock);
    return first;
}

CUresult sim_not_supported(const char *name)
{
    if (is_first_report(name))
        sim_print("%s is not supported", name);
    return sim_log_refusal(CUDA_ERROR_NOT_SUPPORTED, name);
}
