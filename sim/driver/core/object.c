#include "driver/core/object.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* A hash table with open addressing and linear probing. Removing an entry moves later entries back and so
 * leaves no tombstones. */
static struct sim_object **table;
static size_t table_size; /* a power of two */
static size_t table_used;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;

void sim_object_init(struct sim_object *object, enum sim_kind kind, struct sim_context *context,
                     void (*dispose)(struct sim_object *object))
{
    object->kind = kind;
    atomic_init(&object->references, 1);
    object->context = context;
    object->dispose = dispose;
    object->end = NULL;
}

void *sim_object_retain(void *object)
{
    struct sim_object *self = object;
    atomic_fetch_add_explicit(&self->references, 1, memory_order_relaxed);
    return object;
}

void sim_object_release(void *object)
{
    struct sim_object *self = object;
    if (self != NULL && atomic_fetch_sub_explicit(&self->references, 1, memory_order_acq_rel) == 1)
        self->dispose(self);
}

static size_t home(const void *handle)
{
    return (size_t)(((uint64_t)(uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15ull >> 20) & (table_size - 1);
}

static size_t slot_of(const void *handle)
{
    size_t slot = home(handle);
    while (table[slot] != NULL && table[slot] != handle)
        slot = (slot + 1) & (table_size - 1);
    return slot;
}

static bool grow(void)
{
    struct sim_object **old = table;
    const size_t old_size = table_size;
    const size_t size = old_size == 0 ? 256 : old_size * 2;
    struct sim_object **larger = calloc(size, sizeof(*larger));
    if (larger == NULL)
        return false;
    table = larger;
    table_size = size;
    for (size_t i = 0; i < old_size; i++)
        if (old[i] != NULL)
            table[slot_of(old[i])] = old[i];
    free(old);
    return true;
}

bool sim_object_publish(void *object)
{
    pthread_rwlock_wrlock(&table_lock);
    const bool room = table_used * 2 < table_size || grow();
    if (room) {
        table[slot_of(object)] = object;
        table_used++;
    }
    pthread_rwlock_unlock(&table_lock);
    return room;
}

static void remove_slot(size_t slot)
{
    table[slot] = NULL;
    table_used--;
    for (size_t next = (slot + 1) & (table_size - 1); table[next] != NULL;
         next = (next + 1) & (table_size - 1)) {
        struct sim_object *moved = table[next];
        table[next] = NULL;
        table[slot_of(moved)] = moved;
    }
}

bool sim_object_withdraw(const void *handle, enum sim_kind kind)
{
    pthread_rwlock_wrlock(&table_lock);
    const size_t slot = table_size == 0 || handle == NULL ? 0 : slot_of(handle);
    const bool found = table_size != 0 && handle != NULL && table[slot] != NULL && table[slot]->kind == kind;
    if (found)
        remove_slot(slot);
    pthread_rwlock_unlock(&table_lock);
    return found;
}

void *sim_object_find(const void *handle, enum sim_kind kind)
{
    void *found = NULL;
    pthread_rwlock_rdlock(&table_lock);
    if (table_size != 0 && handle != NULL) {
        struct sim_object *object = table[slot_of(handle)];
        if (object != NULL && object->kind == kind)
            found = object;
    }
    pthread_rwlock_unlock(&table_lock);
    return found;
}

void *sim_object_acquire(const void *handle, enum sim_kind kind)
{
    void *found = NULL;
    pthread_rwlock_rdlock(&table_lock);
    struct sim_object *object = table_size != 0 && handle != NULL ? table[slot_of(handle)] : NULL;
    if (object != NULL && object->kind == kind)
        found = sim_object_retain(object);
    pthread_rwlock_unlock(&table_lock);
    return found;
}

/* Withdraw any object of `context` that has an `end`. NULL: none is left. */
static struct sim_object *withdraw_any(const struct sim_context *context)
{
    struct sim_object *found = NULL;
    pthread_rwlock_wrlock(&table_lock);
    for (size_t i = 0; i < table_size && found == NULL; i++)
        if (table[i] != NULL && table[i]->end != NULL && table[i]->context == context) {
            found = table[i];
            remove_slot(i);
        }
    pthread_rwlock_unlock(&table_lock);
    return found;
}

void sim_object_end_all(const struct sim_context *context)
{
    for (struct sim_object *object = withdraw_any(context); object != NULL; object = withdraw_any(context))
        object->end(object);
}
