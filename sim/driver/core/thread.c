#include "driver/core/thread.h"

#include "driver/core/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_key_t key;
static atomic_ullong next_id = 1;

static void end_thread(void *value)
{
    struct sim_thread *self = value;
    for (size_t i = 0; i < self->stream_count; i++)
        self->streams[i]->end(self->streams[i]);
    for (size_t i = 0; i < self->depth; i++)
        sim_object_release(self->stack[i]);
    free(self->streams);
    free(self->stack);
    free(self);
}

int sim_thread_start(void)
{
    return pthread_key_create(&key, end_thread) == 0;
}

struct sim_thread *sim_thread_self(void)
{
    struct sim_thread *self = pthread_getspecific(key);
    if (self == NULL) {
        self = calloc(1, sizeof(*self));
        if (self != NULL)
            self->id = atomic_fetch_add(&next_id, 1);
        if (self != NULL && pthread_setspecific(key, self) != 0) {
            free(self);
            self = NULL;
        }
    }
    return self;
}
