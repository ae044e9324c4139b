#include "core/process/component.h"

#include <stddef.h>

#define TABLES_MAX 4

static const struct nb_component *const *tables[TABLES_MAX];
static size_t table_count;

void nb_components_add(const struct nb_component *const *table)
{
    if (table_count < TABLES_MAX)
        tables[table_count++] = table;
}

typedef void action(const struct nb_component *component);

static void each(action *act)
{
    for (size_t i = 0; i < table_count; i++)
        for (const struct nb_component *const *component = tables[i]; *component != NULL; component++)
            act(*component);
}

static void start(const struct nb_component *component)
{
    if (component->start != NULL)
        component->start();
}

static void lock(const struct nb_component *component)
{
    for (size_t i = 0; i < NB_COMPONENT_LOCKS && component->locks[i] != NULL; i++)
        pthread_mutex_lock(component->locks[i]);
}

static void unlock(const struct nb_component *component)
{
    for (size_t i = 0; i < NB_COMPONENT_LOCKS && component->locks[i] != NULL; i++)
        pthread_mutex_unlock(component->locks[i]);
}

static void forget(const struct nb_component *component)
{
    if (component->forget != NULL)
        component->forget();
}

static void reset(const struct nb_component *component)
{
    if (component->reset != NULL)
        component->reset();
}

void nb_components_start(void)
{
    each(start);
}

void nb_components_lock(void)
{
    each(lock);
}

void nb_components_unlock(void)
{
    each(unlock);
}

void nb_components_forget(void)
{
    each(forget);
}

void nb_components_reset(void)
{
    each(reset);
}
